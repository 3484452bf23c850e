import FoundationEssentials
import Engine
import Core
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
  func read(_ number: Int) -> ArrayTaskOrder? {
    let name = RunFiles.orderName(number)
    guard
      let bytes = try? HeldFolder.following(files.folder).folder(RunFiles.ordersName)?
        .folder(name.folder)?.contents(of: name.file)
    else { return nil }
    return try? JSONDecoder().decode(ArrayTaskOrder.self, from: Data(bytes))
  }

  /// Numbers of the existing orders, ascending.
  var numbers: [Int] {
    guard let folder = try? HeldFolder.following(files.folder).folder(RunFiles.ordersName),
      let thousands = try? folder.names()
    else { return [] }
    return thousands.flatMap { name in
      ((try? folder.folder(name)?.names()) ?? []).compactMap { file in
        file.hasSuffix(".json") ? Int(file.dropLast(5)) : nil
      }
    }.sorted()
  }
}
