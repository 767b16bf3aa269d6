"""The messages of the protocol, generated from Proto/ when the package is built."""
