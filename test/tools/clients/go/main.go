// Package main is a stand-in until the client is used.
package main

func main() {}
