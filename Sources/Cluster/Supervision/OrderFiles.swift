import FoundationEssentials
import Output
import Pipeline
import Runner
import Storage
import SystemPackage

/// Orders of elements as files.
struct OrderFiles {
  let files: RunFiles

  /// Writes some orders; each is there as a whole or not at all.
  func write(_ orders: [ArrayTaskOrder]) throws {
    let folder = try HeldFolder.following(files.folder).makeFolder(RunFiles.ordersName)
    for order in orders {
      let name = RunFiles.orderName(order.number)
      try folder.makeFolder(name.folder).replace(
        name.file, with: try JSONText.canonical(order), durably: false)
    }
    // They are read on other machines when the batch system starts them, and after a crash of this one.
    try folder.flushFileSystem()
  }

  /// The order of an element; `nil` when there is none that can be read.
  func read(_ number: Int) -> ArrayTaskOrder? {
    let name = RunFiles.orderName(number)
    guard
      let bytes = try? HeldFolder.following(files.folder).folder(RunFiles.ordersName)?
        .folder(name.folder)?.contents(of: name.file)
    else { return nil }
    return try? JSONDecoder().decode(ArrayTaskOrder.self, from: Data(bytes))
  }

  /// Numbers of the orders that there are, ascending.
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
