print("scanmill")
