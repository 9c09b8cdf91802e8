"""Labels: columns of categories as concepts, with distances and representatives."""
