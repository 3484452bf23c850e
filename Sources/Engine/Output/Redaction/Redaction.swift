import Core
import SystemPackage

/// Leaves names of people, devices and scenes, device ids and positions out of what is shown to others, and
/// puts stable aliases in place of ids of captures (`scannet-3`), devices (`device-1`) and people (`user-2`).
public struct Redaction: Sendable {
  /// What is private about one capture.
  public struct Subject: Sendable, Hashable {
    /// The name of its folder in the output.
    public var id: String
    public var family: String?
    /// Further names of it: as it was before it became a folder name, its stem.
    public var names: [String]
    /// Folder of the capture in STAGING.
    public var path: String?
    var deviceID: String?
    var deviceName: String?
    /// Label, kind and description of the scene.
    var scene: [String]
    var user: String?

    public init(
      id: String, family: String? = nil, names: [String] = [], path: String? = nil,
      deviceID: String? = nil, deviceName: String? = nil, scene: [String] = [], user: String? = nil
    ) {
      self.id = id
      self.family = family
      self.names = names
      self.path = path
      self.deviceID = deviceID
      self.deviceName = deviceName
      self.scene = scene
      self.user = user
    }

    /// What tells its device from others.
    var deviceKey: String? { deviceID ?? deviceName }
  }

  private let table: PseudonymTable
  private var secrets = SecretTexts()
  /// By any of the texts that may stand for a device.
  private var devices: [String: String] = [:]

  /// Reads the table of aliases and adds what is new to it; where the output cannot be written the new ones
  /// count for this report only.
  ///
  /// - Parameters:
  ///   - output: DIR.
  ///   - subjects: every capture that the texts may be about.
  ///   - staging: STAGING, where it is known; folders between it and a capture may be names of people.
  ///   - users: further names of people, such as the accounts that ran something.
  init(
    output: FilePath, subjects: [Subject], staging: String? = nil, users: [String] = []
  ) {
    let sorted = subjects.sorted { $0.id < $1.id }
    let people = (sorted.compactMap(\.user) + users).filter { !$0.isEmpty }
    let folders = Self.foldersBetween(sorted.compactMap(\.path), staging)
    table = PseudonymTable.named(
      sorted.map { ($0.id, $0.family ?? "capture") }, devices: sorted.compactMap(\.deviceKey),
      users: people + folders, in: output)
    for subject in sorted { add(subject) }
    for name in people + folders { add(name, table.users[name] ?? "user") }
    add(output.text, "DIR")
    add(output.shown, "DIR")
    if let staging { add(staging, "STAGING") }
  }

  private mutating func add(_ subject: Subject) {
    let alias = table.captures[subject.id] ?? "capture"
    for text in [subject.path, subject.path.map(PathText.shown), subject.id].compactMap(\.self)
      + subject.names
    {
      add(text, alias)
    }
    let device = subject.deviceKey.flatMap { table.devices[$0] } ?? "device"
    for text in [subject.deviceID, subject.deviceName].compactMap(\.self) {
      add(text, device)
      if devices[text] == nil { devices[text] = device }
    }
    for text in subject.scene { add(text, "[scene]") }
  }

  private mutating func add(_ text: String, _ alias: String) {
    secrets.add(text, alias)
    // As messages show it.
    if text.onOneLine != text { secrets.add(text.onOneLine, alias) }
  }

  /// Names of folders above captures that may be those of people: below STAGING, or below what all paths have
  /// in common. Numbers and dates are none.
  private static func foldersBetween(_ paths: [String], _ staging: String?) -> [String] {
    let all = paths.map { $0.split(separator: "/").dropLast().map(String.init) }
    let base = staging?.split(separator: "/").map(String.init) ?? common(all)
    var seen: Set<String> = []
    return all.flatMap { $0.starts(with: base) ? Array($0[base.count...]) : $0 }
      .filter { name in name.contains(where: \.isLetter) && seen.insert(name).inserted }
  }

  private static func common(_ paths: [[String]]) -> [String] {
    guard var base = paths.first, paths.count > 1 else { return [] }
    for path in paths { base = zip(base, path).prefix { $0 == $1 }.map(\.0) }
    return base
  }

  /// The name under which a capture stands; of one that was not among the subjects a text that tells nothing.
  public func alias(of id: String) -> String { table.captures[id] ?? "capture" }

  /// The name under which a device stands, given its id or name.
  public func alias(ofDevice device: String) -> String { devices[device] ?? "device" }

  /// The name under which a person stands.
  public func alias(ofUser user: String) -> String { table.users[user] ?? "user" }

  /// A text without anything private in it.
  public func text(_ text: String) -> String {
    RedactedForms.replaced(in: secrets.replaced(in: text))
  }
}
