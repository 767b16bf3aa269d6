// placeholder until the target's first file
