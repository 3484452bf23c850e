import Core
import SystemPackage

/// The known families. Decides to which of them a folder belongs.
public struct CaptureRegistry: Sendable {
  public let readers: [any CaptureReader.Type]

  public init(_ readers: [any CaptureReader.Type]) {
    self.readers = readers
  }

  public func reader(of family: CaptureFamily) -> (any CaptureReader.Type)? {
    readers.first { $0.family == family }
  }

  /// The families in the order of the readers.
  public var families: [CaptureFamily] { readers.map { $0.family } }

  /// The description of a family; for one without a reader, only its name.
  public func description(of family: CaptureFamily) -> FamilyDescription {
    reader(of: family)?.description ?? FamilyDescription(unknown: family)
  }

  /// The description of a family whose name may be missing; then the default description.
  public func description(named name: String?) -> FamilyDescription {
    description(of: CaptureFamily(name ?? ""))
  }

  /// The content of a file, for people, by its name or ending; `nil` if no family knows it, or if families differ in
  /// what files with its ending are.
  public func content(ofFile name: String) -> String? {
    func contents(_ key: String) -> [String] {
      readers.compactMap { $0.description.fileContents[key] }
    }
    if let known = contents(name).first { return known }
    guard !name.hasPrefix("."), let dot = name.lastIndex(of: ".") else { return nil }
    let known = Set(contents("*" + name[dot...].lowercased()))
    return known.count == 1 ? known.first : nil
  }

  /// All readers with their versions: recognition depends on these and the files alone.
  public var signature: String {
    readers.map { "\($0.family.rawValue) \($0.readerVersion)" }.joined(separator: ", ")
  }

  public func readerVersion(of family: CaptureFamily) -> Int {
    reader(of: family)?.readerVersion ?? 0
  }

  /// Opens a recognized capture. From then on no path below its folder is followed out of it in
  /// this process, because readers of frames use paths. A capture that is one file is not opened
  /// through a link that takes its place.
  ///
  /// Throws also where the machine failed at a file without which a reader went on: another attempt
  /// may give another capture.
  public func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    guard let reader = reader(of: recognition.family) else {
      throw CaptureError(
        file: recognition.path, problem: "no reader for \(recognition.family.rawValue)")
    }
    EnclosedPaths.enclose(recognition.path, links: .inside)
    let mark = DeviceErrors.mark
    var capture: Capture
    do throws(CaptureError) {
      capture = try reader.open(recognition)
    } catch {
      if error.errorNumber == nil, let cause = recognition.deviceErrors(since: mark).first {
        throw CaptureError(cause, of: cause.path)
      }
      throw error
    }
    capture.familyDescription = reader.description
    capture.failWhatCannotBeRead {
      recognition.isFile ? nil : reader.role(of: $0, stem: recognition.stem)
    }
    capture.tellNotDownloaded(stem: recognition.stem)
    capture.claimIMUCoverage()
    capture.leaveOutMirroredCameras()
    capture.tellWhatCannotBe()
    capture.warnings += (surroundings(of: recognition)?.rivals ?? []).map { rival in
      CaptureWarning(
        .multipleStreams, "folder",
        "the folder is a capture of \(rival.family.rawValue) as well (\(rival.reason)), which is not read: move one of "
          + "the two into a folder of its own")
    }
    if let error = capture.untold(of: recognition.deviceErrors(since: mark)) {
      throw CaptureError(error, of: error.path)
    }
    return capture
  }

  /// What else the folder of a capture is; `nil` for a capture that is not a whole folder, and where the folder cannot be
  /// listed. Cost: a recognition, unless the capture was recognized with it.
  public func surroundings(of capture: Recognition) -> Recognition.Surroundings? {
    if let known = capture.surroundings { return known }
    guard capture.isWholeFolder, let listing = try? FolderListing(of: capture.folder) else {
      return nil
    }
    let found = recognize(listing)
    return found.first { $0.isWholeFolder && $0.family == capture.family }?.surroundings
      ?? Recognition.Surroundings(
        listedNanoseconds: listing.listedNanoseconds, rivals: found.filter(\.isCertainFolder))
  }

  /// The captures in a folder itself: the folder, sets of files with one stem, and captures that are
  /// one file.
  public func recognize(_ listing: FolderListing) -> [Recognition] {
    let folders = recognizeFolder(listing)
    let files = recognizeFiles(in: listing, of: folders).captures
    let all = Self.joined(folders, files)
    return files.isEmpty ? all : all.sorted { $0.id < $1.id }
  }

  /// All captures in a folder.
  static func joined(_ folders: [Recognition], _ files: [Recognition]) -> [Recognition] {
    var all = folders + files
    if all.count == 1 { all[0].surroundings?.isOnlyCapture = true }
    return all
  }

  /// The captures in a folder itself except those that are one file. If two families claim the same
  /// files, the certain one wins, else the first in the registry.
  public func recognizeFolder(_ listing: FolderListing) -> [Recognition] {
    let all = readers.flatMap { $0.recognize(listing) }
    if var declared = all.first(where: { $0.certainty == .declared }) {
      declared.surround(with: [], in: listing)
      return [declared]
    }
    let certain = all.filter { $0.certainty == .certain }
    // By bytes: as strings, names with different Unicode composition are equal.
    func key(_ candidate: Recognition) -> [UInt8] { candidate.stem.map { Array($0.utf8) } ?? [] }
    let claimed = Set(certain.map(key))
    var taken: Set<[UInt8]> = []
    return (certain + all.filter { $0.certainty == .possible && !claimed.contains(key($0)) })
      .filter { candidate in
        // A family that takes the whole folder excludes other such families; captures with stems
        // share a folder.
        taken.insert(key(candidate)).inserted
      }
      .map { candidate in
        var candidate = candidate
        candidate.surround(with: certain, in: listing)
        return candidate
      }
      .sorted { $0.id < $1.id }
  }

  /// The captures in a folder that are one file, the names of files that are called like one and are
  /// none, and the errors of those that could not be looked into. Links are left out: what they lead to
  /// is found by its own name.
  ///
  /// - Parameter folders: the other captures in the folder. In one that is the whole folder only files
  ///   are opened that are called like a capture.
  ///
  /// Cost: a comparison of text per file; an open and a read of each file whose name is worth it,
  /// except for those that `memory` knows.
  func recognizeFiles(
    in listing: FolderListing, of folders: [Recognition], memory: (any FolderMemory)? = nil
  ) -> (captures: [Recognition], unrecognized: [String], unreadable: [FileError]) {
    if folders.contains(where: { $0.certainty == .declared }) { return ([], [], []) }
    var captures: [Recognition] = []
    var unrecognized: [String] = []
    func take(_ found: Recognition?, _ name: String) {
      if let found {
        captures.append(found)
      } else if isCalledLikeCapture(fileName: name) {
        unrecognized.append(name)
      }
    }
    let isOfCapture = folders.contains(where: \.isWholeFolder)
    var unreadable: [FileError] = []
    for name in listing.files
    where (isOfCapture ? isCalledLikeCapture(fileName: name) : mayBeCapture(fileName: name))
      && !listing.isLink(name)
    {
      do throws(FileError) {
        let path = listing.path(of: name)
        // Before it is opened: if the file changes meanwhile, it has another stamp next time.
        let stamp = memory == nil ? nil : listing.stamp(of: name)
        if let stamp, let known = memory?.recall(path, stamp) {
          take(known.capture, name)
          continue
        }
        let found = try recognize(listing.open(name))
        if let stamp { memory?.note(FileLook(capture: found), of: path, stamp) }
        take(found, name)
      } catch {
        // Removed or renamed since the folder was listed.
        if error.kind != .notFound, isCalledLikeCapture(fileName: name) { unreadable.append(error) }
      }
    }
    return (captures, unrecognized, unreadable)
  }

  /// The capture that is the file at `path`; `nil` if it is none, is a link, or cannot be read.
  public func capture(atFile path: FilePath) -> Recognition? {
    guard (try? FileStatus(of: path, followsLast: false))?.kind == .file,
      let file = try? InputFile(path)
    else { return nil }
    return try? recognize(file)
  }

  /// The family whose app uploads the files of this stem one by one, and the names that are still to
  /// come; `nil` if no file tells yet. Cost: one read of metadata, which is small.
  public func upload(
    of stem: String, in listing: FolderListing
  ) -> (family: CaptureFamily, lacking: [String])? {
    for reader in readers {
      if let lacking = reader.namesLacking(ofUpload: stem, in: listing) {
        return (reader.family, lacking)
      }
    }
    return nil
  }

  /// Whether any family thinks that a file of this name is worth opening.
  func mayBeCapture(fileName: String) -> Bool {
    readers.contains { $0.mayBeCapture(fileName: fileName) }
  }

  /// Whether a file of this name is expected to be a capture of any family.
  public func isCalledLikeCapture(fileName: String) -> Bool {
    readers.contains { $0.isCalledLikeCapture(fileName: fileName) }
  }

  /// The capture that a file is by itself. If two families claim it, the certain one wins, else the
  /// first in the registry.
  func recognize(_ file: InputFile) throws(FileError) -> Recognition? {
    var possible: Recognition?
    for reader in readers {
      guard let found = try reader.recognize(file: file) else { continue }
      if found.certainty == .certain { return found }
      possible = possible ?? found
    }
    return possible
  }
}

extension Recognition {
  fileprivate var isCertainFolder: Bool { certainty == .certain && isWholeFolder }

  /// - Parameter certain: what is certain in the folder for all families.
  fileprivate mutating func surround(with certain: [Recognition], in listing: FolderListing) {
    guard isWholeFolder else { return }
    surroundings = Surroundings(
      listedNanoseconds: listing.listedNanoseconds,
      rivals: certain.filter { $0.isCertainFolder && $0.family != family })
  }
}

extension CaptureRegistry {
  /// The families that the program can read. No other list of them exists.
  public static let builtIn = CaptureRegistry([
    ScanNetReader.self, ARKitScannerReader.self, MultiScanReader.self, VISLAMReader.self,
    StraboReader.self, StrayScannerReader.self, ThreeDScannerAppReader.self, Record3DReader.self,
    PolycamReader.self, OpenFolderReader.self,
  ])
}
