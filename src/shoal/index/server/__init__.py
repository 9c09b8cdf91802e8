"""The service: a server that keeps encrypted documents and a k-anonymous index over them, and its client.
The server sees ciphertexts and, unless a client asks it to choose or to search, neither a vector nor a query.
"""
