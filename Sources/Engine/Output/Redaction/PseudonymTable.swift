import Core
import SystemPackage

/// `DIR/.scanmill/aliases.json`: the names under which captures, devices and people stand in what is shown to
/// others. A name that was given once stays.
package struct PseudonymTable: Hashable, Sendable, Codable {
  package var schema = 1
  /// By the name of the capture's folder in the output.
  package var captures: [String: String] = [:]
  var devices: [String: String] = [:]
  var users: [String: String] = [:]

  package static let fileName = OutputNames.aliases
  private static let lockName = OutputNames.aliasesLock
  /// Giving names takes milliseconds; who cannot get the lock for this long goes on without writing.
  private static let mostLooks = 100

  /// Gives names to all that have none, and writes them down if the output can be written. Reports at the
  /// same time agree: names are given under a lock.
  ///
  /// - Parameters:
  ///   - captures: id and family.
  ///   - devices: by what tells them apart.
  static func named(
    _ captures: [(id: String, family: String)], devices: [String], users: [String],
    in root: FilePath
  ) -> PseudonymTable {
    var table = stored(in: root)
    let before = table
    table.addNames(captures, devices, users)
    if table == before { return table }
    guard
      let folder = try? HeldFolder.following(root).makeFolder(NotesFile.folderName)
    else { return table }
    var looks = 0
    let lock = try? FileLock(in: folder, name: lockName, holder: "report") { _ in
      looks += 1
      return looks < mostLooks
    }
    guard let lock else { return table }
    defer { withExtendedLifetime(lock) {} }
    // What another process gave meanwhile counts.
    table = stored(in: root)
    table.addNames(captures, devices, users)
    if let bytes = try? JSONText.pretty(table) { try? folder.replace(fileName, with: bytes) }
    return table
  }

  private static func stored(in root: FilePath) -> PseudonymTable {
    NotesFile.read(PseudonymTable.self, fileName, ofOutput: root).flatMap {
      $0.schema == 1 ? $0 : nil
    } ?? PseudonymTable()
  }

  private mutating func addNames(
    _ found: [(id: String, family: String)], _ newDevices: [String], _ newUsers: [String]
  ) {
    // An alias that is the real id of another one would point at the wrong one.
    let real = Set(found.map { $0.id.lowercased() } + captures.keys.map { $0.lowercased() })
    var next: [String: Int] = [:]
    func name(_ kind: String, among taken: Set<String>) -> String {
      var number = next[kind] ?? 1
      while taken.contains("\(kind)-\(number)") || real.contains("\(kind)-\(number)") {
        number += 1
      }
      next[kind] = number + 1
      return "\(kind)-\(number)"
    }
    let takenCaptures = Set(captures.values)
    for (id, family) in found where captures[id] == nil {
      captures[id] = name(family, among: takenCaptures)
    }
    let takenDevices = Set(devices.values)
    for device in newDevices where devices[device] == nil {
      devices[device] = name("device", among: takenDevices)
    }
    let takenUsers = Set(users.values)
    for user in newUsers where users[user] == nil {
      users[user] = name("user", among: takenUsers)
    }
  }
}
