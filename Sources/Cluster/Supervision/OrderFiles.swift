import Core
import Engine
import FoundationEssentials
import SystemPackage

/// The orders that earlier processes of a run wrote. The last order of a capture counts.
struct KnownOrders {
  /// Ascending.
  let orders: [ArrayTaskOrder]
  /// The number of the last order, by capture.
  private let last: [String: Int]

  init(_ files: OrderFiles) throws {
    self.init(try files.numbers.compactMap { try files.read($0) })
  }

  /// - Parameter orders: ascending.
  init(_ orders: [ArrayTaskOrder]) {
    self.orders = orders
    last = Dictionary(
      orders.flatMap { order in order.captures.map { ($0.name, order.number) } },
      uniquingKeysWith: max)
  }

  var nextNumber: Int { orders.last.map { $0.number + 1 } ?? 0 }

  /// Number of retries of captures.
  var retriedCount: Int {
    orders.reduce(0) { $0 + $1.captures.count { $0.history.attempts > 1 } }
  }

  /// Number of array tasks without retries, which stand for those of the first round.
  var firstCount: Int { orders.count { $0.captures.allSatisfy { $0.history.attempts == 1 } } }

  func has(_ capture: String) -> Bool { last[capture] != nil }

  /// The orders that are the last ones of open captures, with these captures.
  func open(where isOpen: (String) -> Bool) -> [(ArrayTaskOrder, [ArrayTaskCapture])] {
    orders.compactMap { order in
      let captures = order.captures.filter { last[$0.name] == order.number && isOpen($0.name) }
      return captures.isEmpty ? nil : (order, captures)
    }
  }
}

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
    return try? JSONDecoder().decode(ArrayTaskOrder.self, from: Data(bytes))
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
