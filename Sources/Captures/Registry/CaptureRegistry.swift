import Storage
import SystemPackage

/// The families that are known, and which of them a folder belongs to.
public struct CaptureRegistry: Sendable {
  public let readers: [any CaptureReader.Type]

  public init(_ readers: [any CaptureReader.Type]) {
    self.readers = readers
  }

  public func reader(of family: CaptureFamily) -> (any CaptureReader.Type)? {
    readers.first { $0.family == family }
  }

  /// In the order of the readers.
  public var families: [CaptureFamily] { readers.map { $0.family } }

  /// What is known of a family by its name; of one without a reader the name alone.
  public func description(of family: CaptureFamily) -> FamilyDescription {
    reader(of: family)?.description ?? FamilyDescription(unknown: family)
  }

  /// The same where a name may be missing: of none what holds for most.
  public func description(named name: String?) -> FamilyDescription {
    description(of: CaptureFamily(name ?? ""))
  }

  /// What a file holds, for people, by its name or ending; `nil` where no family knows it.
  public func content(ofFile name: String) -> String? {
    func content(_ key: String) -> String? {
      readers.lazy.compactMap { $0.description.fileContents[key] }.first
    }
    if let known = content(name) { return known }
    guard !name.hasPrefix("."), let dot = name.lastIndex(of: ".") else { return nil }
    return content("*" + name[dot...].lowercased())
  }

  /// All readers with their versions: what recognition depends on beside the files.
  public var signature: String {
    readers.map { "\($0.family.rawValue) \($0.readerVersion)" }.joined(separator: ", ")
  }

  public func readerVersion(of family: CaptureFamily) -> Int {
    reader(of: family)?.readerVersion ?? 0
  }

  /// Opens a recognized capture. From then on no path below its folder leads out of it in this process,
  /// whoever opens it: readers of frames know paths only.
  public func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    guard let reader = reader(of: recognition.family) else {
      throw CaptureError(
        file: recognition.folder, problem: "no reader for \(recognition.family.rawValue)")
    }
    EnclosedPaths.enclose(recognition.folder, links: .inside)
    var capture = try reader.open(recognition)
    capture.familyDescription = reader.description
    capture.failWhatCannotBeRead { reader.role(of: $0, stem: recognition.stem) }
    capture.claimIMUCoverage()
    return capture
  }

  /// The captures that a folder itself holds. Where two families claim the same files, the certain one
  /// wins; between equals the order of the registry.
  public func recognize(_ listing: FolderListing) -> [Recognition] {
    let all = readers.flatMap { $0.recognize(listing) }
    let certain = all.filter { $0.certainty == .certain }
    // By their bytes: as texts, names equal others that are composed differently.
    func key(_ candidate: Recognition) -> [UInt8] { candidate.stem.map { Array($0.utf8) } ?? [] }
    let claimed = Set(certain.map(key))
    var taken: Set<[UInt8]> = []
    return (certain + all.filter { $0.certainty == .possible && !claimed.contains(key($0)) })
      .filter { candidate in
        // A family that takes the whole folder excludes others that do; stems share a folder.
        taken.insert(key(candidate)).inserted
      }
      .sorted { $0.id < $1.id }
  }
}
