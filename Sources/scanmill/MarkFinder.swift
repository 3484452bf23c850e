import Captures
import Engine
import Core
import SystemPackage

/// Finds the captures that `mark` is about: those with results, those that a watcher saw, retired ones, and folders that
/// are not recognized.
struct MarkFinder {
  /// `nil`: none was found.
  private(set) var root: FilePath?
  private(set) var subjects: [Marking.Subject] = []
  /// Names for which nothing was found in the output.
  private(set) var unknown: [String] = []

  /// All that can be marked, in the order of their ids.
  private var known: [Marking.Subject] = []

  /// The most that a list of ids may hold, in bytes.
  private static let mostBytes = 1 << 26

  private init() {}

  private init(_ output: String) throws {
    guard let folder = PathSafety.resolved(FilePath(text: output)), FileSystem.isFolder(folder)
    else {
      throw CommandFailure(
        ExitStatus.noCapture,
        "\(output): no such folder; name the folder that --output named")
    }
    try look(folder)
  }

  /// All marks of an output, in the order of the ids. Throws 65 where there is no such folder.
  static func marks(in output: String) throws -> [(Marking.Subject, CaptureMark)] {
    let finder = try MarkFinder(output)
    guard let root = finder.root else { return [] }
    let book = MarkBook(ofOutput: root)
    return finder.known.compactMap { subject in
      let location = subject.folder.map { CaptureLocation(FilePath(text: $0), stem: subject.stem) }
      return book.mark(of: OutputLayout(root: root, name: subject.id), at: location)
        .map { (subject, $0) }
    }
  }

  /// Throws 65 where nothing of what was named is there, and 64 for the beginning of several ids.
  init(_ names: [String], ids: [String], from: String?, output: String?) throws {
    let list = try from.map(Self.lines)
    let choosesByID = !ids.isEmpty || list != nil
    if let output {
      try self.init(output)
      for name in names { try add(name) }
    } else if choosesByID {
      guard names.count == 1, let folder = PathSafety.resolved(FilePath(text: names[0])),
        FileSystem.isFolder(folder)
      else {
        throw CommandFailure(
          ExitStatus.usage,
          "--id and --from choose in one output folder: name it, and no captures")
      }
      self.init()
      try look(folder)
    } else {
      self.init()
      for name in names { try addPath(name) }
    }
    for pattern in ids {
      let choice = NameChoice(idPrefixes: [pattern])
      let found = known.filter { choice.refusal(ids: [$0.id], names: []) == nil }
      if found.isEmpty { unknown.append("--id \(pattern): no capture here has an id like it") }
      subjects += found
    }
    for name in list ?? [] { try add(name) }
    subjects = subjects.uniqued
    if subjects.isEmpty {
      throw CommandFailure(
        ExitStatus.noCapture,
        unknown.isEmpty ? "no capture is named" : unknown.prefix(20).joined(separator: "\n"))
    }
  }

  private static func lines(_ file: String) throws -> [String] {
    let bytes: [UInt8]
    do {
      let path: FilePath = file == "-" ? "/dev/stdin" : FilePath(text: file)
      let open = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
      defer { try? open.close() }
      var all: [UInt8] = []
      var block = [UInt8](repeating: 0, count: 1 << 16)
      while all.count < mostBytes {
        let count = try block.withUnsafeMutableBytes { try open.read(into: $0) }
        if count == 0 { break }
        all += block[..<count]
      }
      bytes = all
    } catch {
      throw CommandFailure(ExitStatus.usage, "--from \(file): cannot be read: \(error)")
    }
    return bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
      .map { PathText.text(of: Array($0)) }
      .filter { !$0.isEmpty }
  }

  /// Takes in what can be marked in an output.
  private mutating func look(_ folder: FilePath) throws(FileError) {
    root = folder
    var found: [Marking.Subject] = []
    var places: Set<CaptureLocation> = []
    func add(_ id: String, _ path: String?, _ stem: String?) {
      if let path,
        !places.insert(CaptureLocation(FilePath(text: path), stem: stem)).inserted
      {
        return
      }
      found.append(Marking.Subject(id: id, folder: path, stem: stem))
    }
    for layout in try OutputCatalog(root: folder, layouts: OutputCatalog.candidates(in: folder))
      .layouts
    where OutputCatalog.isOutput(layout) {
      let place = RecordedLocation(of: layout)
      add(layout.name, place?.folder, place?.stem)
    }
    let record = WatchRecord(ofOutput: folder)
    for waiting in record?.waiting ?? [] { add(waiting.id, waiting.path, waiting.stem) }
    for noted in MarkBook(ofOutput: folder).records { add(noted.id, noted.folder, noted.stem) }
    for unrecognized in record?.unrecognized ?? []
    where FileSystem.isFolder(FilePath(text: unrecognized.path)) {
      add(FilePath(text: unrecognized.path).shownName, unrecognized.path, nil)
    }
    known = found.sorted { $0.id < $1.id }
  }

  /// An id or its beginning, or the place of a capture.
  private mutating func add(_ name: String) throws {
    if let id = try OutputFinder.id(name, among: known.map(\.id)) {
      subjects += known.filter { $0.id == id }
      return
    }
    let path = FilePath(text: name)
    if let folder = PathSafety.resolved(path) {
      let here = known.filter { $0.folder == folder.text }
      if !here.isEmpty {
        subjects += here
        return
      }
      if let root {
        let targets = Ownership(root: root).resolve(
          CaptureFinder(Toolbox.captures).find(folder).captures)
        if targets.count == 1, let target = targets.first {
          subjects.append(
            Marking.Subject(
              id: target.layout.name, folder: target.recognition.path.text,
              stem: target.recognition.stem))
          return
        }
        if targets.count > 1 {
          throw CommandFailure(
            ExitStatus.usage,
            "\(name): holds \(targets.count) captures: name one of them, or use --id")
        }
      }
    }
    unknown.append("\(name): no such capture here")
  }

  /// `OUT/ID`, where `ID` may be the beginning of one.
  private mutating func addPath(_ name: String) throws {
    let path = FilePath(text: name)
    guard let last = path.lastComponent?.string else {
      unknown.append("\(name): no such capture here")
      return
    }
    let above = path.removingLastComponent()
    guard let folder = PathSafety.resolved(above.isEmpty ? "." : above), FileSystem.isFolder(folder)
    else {
      unknown.append("\(name): no such folder; a capture is named OUTPUT/ID")
      return
    }
    if let root, root != folder {
      throw CommandFailure(
        ExitStatus.usage,
        "\(name): lies in another output than \(root.shown); mark the captures of one output")
    }
    if root == nil { try look(folder) }
    if known.isEmpty, FileSystem.isFolder(folder.appending(last)) {
      throw CommandFailure(
        ExitStatus.usage,
        "\(name): a capture is named OUTPUT/ID; choose several in an output with --id or --from"
      )
    }
    guard let id = try OutputFinder.id(last, among: known.map(\.id)) else {
      unknown.append(
        "\(name): no such capture here"
          + NearestName.suggestion(last, among: known.map(\.id)))
      return
    }
    subjects += known.filter { $0.id == id }
  }
}
