/// The room of the MultiScan family: everything in it is named `MultiScan.…`.
enum MultiScan {}
