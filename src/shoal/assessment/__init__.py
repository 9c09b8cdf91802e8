"""Assessment: a protected version judged against its original, whoever made it."""
