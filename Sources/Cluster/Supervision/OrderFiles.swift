import Core
import Engine
import SystemPackage

/// The files with the orders of array tasks.
struct OrderFiles {
  let files: RunFiles

  /// Writes orders. Each file is complete or does not exist.
  func write(_ orders: [ArrayTaskOrder]) throws {
    let folder = try HeldFolder.following(files.folder).makeFolder(RunFiles.ordersName)
    for order in orders {
      let name = RunFiles.orderName(order.number)
      try folder.makeFolder(name.folder).replace(
        name.file, with: try JSONText.canonical(order), durably: false)
    }
    // The batch system starts the tasks on other machines, which read the orders; a crash of this
    // machine must not lose them.
    try folder.flushFileSystem()
  }

  /// The order of an array task; `nil` if it does not exist or cannot be decoded.
  func read(_ number: Int) throws(FileError) -> ArrayTaskOrder? {
    let name = RunFiles.orderName(number)
    guard
      let bytes = try HeldFolder.following(files.folder).folder(RunFiles.ordersName)?
        .folder(name.folder)?.contents(of: name.file)
    else { return nil }
    return try? ArrayTaskOrder(json: bytes)
  }

  /// Numbers of the existing orders, ascending. Throws where they cannot be listed: what is not known of is
  /// submitted again, under numbers that are taken.
  var numbers: [Int] {
    get throws(FileError) {
      guard let folder = try HeldFolder.following(files.folder).folder(RunFiles.ordersName) else {
        return []
      }
      var found: [Int] = []
      for name in try folder.names() {
        for file in try folder.folder(name)?.names() ?? [] where file.hasSuffix(".json") {
          if let number = Int(file.dropLast(5)) { found.append(number) }
        }
      }
      return found.sorted()
    }
  }
}
