import Captures
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
    var names: [String] = []
    /// Folder of the capture in STAGING.
    public var path: String?
    var deviceID: String?
    var deviceName: String?
    /// Label, kind and description of the scene.
    var scene: [String] = []
    var user: String?

    /// What tells its device from others.
    var deviceKey: String? { deviceID ?? deviceName }
  }

  private let table: PseudonymTable
  private var secrets = SecretTexts()
  /// The stand-ins by each text that may stand for a device.
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
    Self.withoutPrivateForms(secrets.replaced(in: text))
  }

  /// The report of a night without anything private in it: no commands, no logs, no paths, and aliases in
  /// place of ids, devices and people.
  public func applied(to report: NightReport) -> NightReport {
    var shown = report
    shown.captures = report.captures.map { applied($0) }
    shown.unrecognized = report.unrecognized.enumerated().map { index, folder in
      RunReport.Unrecognized(
        path: "unrecognized-\(index + 1)", holds: folder.holds.map(Self.ending))
    }
    shown.retired = report.retired?.map {
      NightReport.Retired(id: alias(of: $0.id), path: nil, mark: redacted($0.mark))
    }
    shown.host = text(report.host)
    shown.pipeline = text(report.pipeline)
    // A redacted page is not renewed.
    shown.watch?.renewsPageSeconds = nil
    shown.watch?.staging = report.watch?.staging.map { _ in "STAGING" }
    shown.watch?.trouble = report.watch?.trouble.map { text($0) }
    shown.devices = report.devices.map { device in
      var shown = device
      shown.device = alias(ofDevice: device.device)
      shown.notSafe = device.notSafe.map {
        .init(id: alias(of: $0.id), reasons: $0.reasons.map(text))
      }
      return shown
    }
    if var changes = report.changes {
      changes.repaired = changes.repaired.map(alias(of:))
      changes.newlyNeeding = changes.newlyNeeding.map(alias(of:))
      changes.stillNeeding = changes.stillNeeding.map(alias(of:))
      shown.changes = changes
    }
    shown.timeline = report.timeline.map { span in
      var shown = span
      shown.capture = span.capture.map { alias(of: $0) }
      return shown
    }
    return shown
  }

  /// Who marked a capture, and in which words, concerns no reader of it.
  private func redacted(_ mark: CaptureMark) -> CaptureMark {
    var shown = mark
    shown.by = "somebody"
    shown.note = nil
    return shown
  }

  /// Unknown names of files may be anything.
  private static func ending(of name: String) -> String {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count > 1, let last = parts.last, (1...8).contains(last.count),
      last.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
    else { return "*" }
    return "*.\(last)"
  }

  /// Only what is set here is in it: what else is known of the capture stays out.
  private func applied(_ row: CaptureRow) -> CaptureRow {
    let alias = self.alias(of: row.id)
    var shown = CaptureRow(id: alias, family: row.family, state: row.state)
    shown.path = row.path.map { _ in alias }
    shown.page = row.page.map { _ in "\(alias)/report.html" }
    shown.deviceInfo.name = row.device.map { self.alias(ofDevice: $0) }
    shown.mark = row.mark.map { redacted($0) }
    shown.user = row.user.map { self.alias(ofUser: $0) }
    shown.waitingTwin = row.twinOf.map { self.alias(of: $0) }
    shown.reasons = row.reasons.map { reason in
      var shown = reason
      shown.text = text(reason.text)
      shown.remedy = reason.remedy.map { text($0) }
      shown.file = reason.file.map { text($0) }
      return shown
    }
    shown.missing = row.missing.map { text($0) }
    shown.isOneFile = row.isOneFile
    shown.warnings = row.warnings.map { applied($0) }
    shown.shortfalls = row.shortfalls.map { shortfall in
      var shown = shortfall
      shown.message = text(shortfall.message)
      return shown
    }
    shown.stages = row.inapplicable.map { stage in
      var shown = stage
      shown.details = stage.details.map { text($0) }
      return shown
    }
    shown.quality = row.quality
    shown.quality?.reasons = row.quality?.reasons.map { text($0) } ?? []
    shown.custody = row.custody
    shown.custody?.lacks = row.custody?.lacks.map { text($0) } ?? []
    shown.failures = row.failures.map { failure in
      var detail = failure.detail
      detail?.file = failure.detail?.file.map { text($0) }
      detail?.remedy = failure.detail?.remedy.map { text($0) }
      return Failure(
        stage: failure.stage, message: text(failure.text), cause: failure.cause, detail: detail,
        attempts: failure.attempts)
    }
    (shown.outcome, shown.seconds, shown.frames) = (row.outcome, row.seconds, row.frames)
    (shown.recordedAt, shown.attempts, shown.gone) = (row.recordedAt, row.attempts, row.gone)
    (shown.retryAt, shown.lastRun, shown.since) = (row.retryAt, row.lastRun, row.since)
    (shown.waitsFor, shown.neededBytes) = (row.waitsFor, row.neededBytes)
    shown.upload = row.upload
    shown.upload?.temporaryFile = row.upload?.temporaryFile.map { text($0) }
    return shown
  }

  /// A warning without anything private in its words.
  func applied(_ warning: CaptureWarning) -> CaptureWarning {
    var shown = warning
    shown.subject = text(warning.subject)
    shown.message = text(warning.message)
    return shown
  }
}

/// `DIR/.scanmill/aliases.json`: the names under which captures, devices and people stand in what is shown to
/// others. A name that was given once stays.
struct PseudonymTable: Hashable, Sendable, Codable {
  var schema = 1
  /// The stand-ins by the name of the capture's folder in the output.
  var captures: [String: String] = [:]
  var devices: [String: String] = [:]
  var users: [String: String] = [:]

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
      let folder = try? HeldFolder.following(root).makeFolder(OutputNames.notes)
    else { return table }
    var looks = 0
    let lock = try? FileLock(in: folder, name: OutputNames.aliasesLock, holder: "report") { _ in
      looks += 1
      return looks < mostLooks
    }
    guard let lock else { return table }
    defer { withExtendedLifetime(lock) {} }
    // Aliases that another process has assigned meanwhile are kept.
    table = stored(in: root)
    table.addNames(captures, devices, users)
    if let bytes = try? JSONText.pretty(table) {
      try? folder.replace(OutputNames.aliases, with: bytes)
    }
    return table
  }

  private static func stored(in root: FilePath) -> PseudonymTable {
    NotesFile.read(PseudonymTable.self, OutputNames.aliases, ofOutput: root).flatMap {
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

/// Finds texts that are not to be shown inside other texts, letters in any case and composition.
///
/// A secret of six or more characters is found anywhere. A shorter one counts only as a whole word, one of one
/// or two characters only as a whole name in a path or in quotes: a scene called `a` must not destroy every
/// sentence. Longer ones go before those they begin with.
///
/// Cost of a search: proportional to the text; of memory: to the secrets.
struct SecretTexts: Sendable {
  /// The replacements of secrets: by their first three characters, by length, and by the whole secret.
  private var byBeginning: [String: [Int: [String: String]]] = [:]
  /// The lengths of secrets with these first three characters, longest first.
  private var lengths: [String: [Int]] = [:]
  /// The replacements of secrets shorter than three characters.
  private var short: [String: String] = [:]

  private static let beginning = 3
  private static let anywhere = 6

  /// The first replacement given for a secret stays. Blank texts are no secrets.
  mutating func add(_ text: String, _ replacement: String) {
    let folded = Self.folded(text)
    guard folded.contains(where: { !$0.allSatisfy(\.isWhitespace) }) else { return }
    let key = folded.joined()
    guard folded.count >= Self.beginning else {
      if short[key] == nil { short[key] = replacement }
      return
    }
    let begin = folded[..<Self.beginning].joined()
    if byBeginning[begin]?[folded.count]?[key] != nil { return }
    byBeginning[begin, default: [:]][folded.count, default: [:]][key] = replacement
    lengths[begin] = byBeginning[begin].map { $0.keys.sorted(by: >) } ?? []
  }

  func replaced(in text: String) -> String {
    let characters = Array(text)
    let folded = characters.map { $0.lowercased() }
    var result = ""
    var index = 0
    var hasFound = false
    while index < folded.count {
      if let (replacement, count) = secret(at: index, in: folded, characters) {
        result += replacement
        index += count
        hasFound = true
      } else {
        result.append(characters[index])
        index += 1
      }
    }
    return hasFound ? result : text
  }

  /// What takes the place of the secret that begins here, and how many characters that has; `nil`: none does.
  private func secret(
    at index: Int, in folded: [String], _ characters: [Character]
  ) -> (replacement: String, count: Int)? {
    if index + Self.beginning <= folded.count {
      let begin = folded[index..<index + Self.beginning].joined()
      for count in lengths[begin] ?? [] where index + count <= folded.count {
        let key = folded[index..<index + count].joined()
        guard let replacement = byBeginning[begin]?[count]?[key] else { continue }
        if count >= Self.anywhere || isWord(index, count, characters) {
          return (replacement, count)
        }
      }
    }
    for count in [2, 1] where index + count <= folded.count && !short.isEmpty {
      let key = folded[index..<index + count].joined()
      if let replacement = short[key], isName(index, count, characters) {
        return (replacement, count)
      }
    }
    return nil
  }

  private func isWord(_ index: Int, _ count: Int, _ characters: [Character]) -> Bool {
    func isInside(_ character: Character) -> Bool { character.isLetter || character.isNumber }
    return (index == 0 || !isInside(characters[index - 1]))
      && (index + count == characters.count || !isInside(characters[index + count]))
  }

  /// Between slashes or quotes, or the whole text; a file's ending may follow.
  private func isName(_ index: Int, _ count: Int, _ characters: [Character]) -> Bool {
    let edges: Set<Character> = ["/", "'", "\"", "`"]
    let isBegun = index == 0 || edges.contains(characters[index - 1])
    let end = index + count
    let isEnded = end == characters.count || edges.contains(characters[end])
    if isBegun, isEnded { return true }
    // `a.depth`, also at the beginning of a word.
    let isWordBegun = isBegun || characters[index - 1].isWhitespace
    return isWordBegun && end + 1 < characters.count && characters[end] == "."
      && characters[end + 1].isLetter
  }

  private static func folded(_ text: String) -> [String] { text.map { $0.lowercased() } }
}
