"""What identifies: how likely an entity must be masked, decided apart from what an entity is."""
