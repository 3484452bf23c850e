/// The room of the ARKit-Scanner family: everything in it is named `ARKitScanner.…`.
enum ARKitScanner {}
