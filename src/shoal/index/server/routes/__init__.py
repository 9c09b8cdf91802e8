"""The routes: each translates a request, calls one function, and shows what came back."""
