import Core
import Glibc
import SystemPackage

/// `DIR/.scanmill/catalog`: the entries of all captures and runs of an output as they were last read, in one
/// file. Derived: absent, damaged or made by another program, answers are made without it, and it is made anew.
///
/// Read as a whole and replaced as a whole in one step, so that it may lie on any file system; of two who
/// replace it at the same time the later one wins, which costs another look at what only the first one had
/// seen.
package struct Catalog: Sendable {

  /// A capture as it was read.
  package struct Row: Hashable, Sendable {
    /// `EntryStamps`; empty: it must be read again in any case.
    fileprivate var stampBytes: ArraySlice<UInt8>
    /// How many files are published.
    package fileprivate(set) var outputs: Int
    /// The entry as the cache codes it; empty: it must be read again, and only the stamps are of use.
    package fileprivate(set) var bytes: ArraySlice<UInt8>

    package var entry: CaptureRow? { try? CaptureRow(cacheBytes: bytes) }

    /// The entry with names, family, device and scene alone, for a tenth of the cost; `nil`: it must be read again.
    var head: CaptureRow? {
      var (coder, row) = (CacheCoder(reading: bytes), CaptureRow.blank)
      guard !bytes.isEmpty, (try? row.codeHead(&coder)) != nil else { return nil }
      return row
    }

    /// `nil`: it must be read again in any case.
    var stamps: EntryStamps? { try? EntryStamps(cacheBytes: stampBytes) }

    /// The row with what else the capture's files bear.
    package func with(_ stamps: EntryStamps?) -> Row {
      Row(stamps: stamps, outputs: outputs, bytes: bytes)
    }
  }

  /// A run as it was read.
  struct RunRow: Sendable {
    /// Sizes, times and inodes of the files of its journal.
    var stamp: String
    /// Digest of what is in these files; `nil`: not known.
    var content: Digest?
    /// The entry as the cache codes it.
    var bytes: ArraySlice<UInt8>

    var entry: RunEntry? { try? RunEntry(cacheBytes: bytes) }

    private static let files = [OutputNames.run, OutputNames.events]

    /// The stamp of a journal as it is now, without a look inside.
    static func stamp(_ id: String, in root: FilePath) -> String {
      let folder = HeldFolder(root)?.below("\(OutputNames.runs)/\(id)")
      return files.map { name in
        folder?.stamp(of: name).map {
          "\($0.bytes) \($0.modifiedNanoseconds) \($0.changedNanoseconds) \($0.inode)"
        } ?? "-"
      }.joined(separator: ",")
    }

    /// Cost: reading both files.
    static func content(_ id: String, in root: FilePath) -> Digest? {
      let folder = OutputLayout.run(id, in: root)
      var coder = CacheCoder()
      for name in files {
        let digest = try? Digest(ofFileAt: folder.appending(name))
        coder.put(digest?.hex)
      }
      return Digest(of: coder.bytes)
    }
  }

  /// The captures by id.
  package var captures: [String: Row] = [:]
  var runs: [String: RunRow] = [:]

  init() {}

  /// How many files are published of all captures.
  package var outputs: Int { captures.values.reduce(0) { $0 &+ $1.outputs } }

  /// Leaves out what is only of use where published files are looked at one by one.
  mutating func removeProofsOfOutputs() {
    captures = captures.mapValues { row in
      guard var stamps = row.stamps, stamps.proof?.outputs != nil else { return row }
      stamps.proof?.outputs = nil
      return row.with(stamps)
    }
  }

  /// What is noted in an output; `nil` where there is nothing that can be used: absent, damaged, or of another format.
  /// Of what a program with another signature noted only the stamps of captures are of use, and only they are in it: what
  /// it read of the same files may differ.
  ///
  /// Cost: reading and digesting a few thousand bytes per capture.
  init?(of root: FilePath, for signature: String) {
    guard
      let bytes = HeldFolder(root)?.below(OutputNames.notes)?
        .stampedContents(of: OutputNames.catalog)?.bytes,
      let found = try? Self(bytes, for: signature)
    else { return nil }
    self = found
  }

  /// Notes it in an output, as far as that is possible: not where the folder cannot be written.
  package func write(to root: FilePath, signature: String) {
    guard Self.isWritable(root) else { return }
    try? HeldFolder.following(root).makeFolder(OutputNames.notes)
      .replace(OutputNames.catalog, with: bytes(signature: signature), durably: false)
  }

  /// Whether the folder may be written to. A folder without any write permission is not writable for root either.
  static func isWritable(_ root: FilePath) -> Bool {
    guard let found = HeldFolder(root)?.status(of: "."), found.mode & 0o222 != 0 else {
      return false
    }
    return root.withPlatformString { access($0, W_OK | X_OK) } == 0
  }

  /// Raised when the order of values changes, here or in the records, and when stamps or proofs of the same places
  /// mean something else.
  private static let format: Int64 = 0xA_4C54_4143

  /// All values with a digest at the end.
  package func bytes(signature: String) throws -> [UInt8] {
    var (coder, catalog) = (CacheCoder(), self)
    try coder.format(Self.format)
    coder.put(signature)
    try coder(&catalog.captures)
    try coder(&catalog.runs)
    return coder.sealed
  }

  init(_ bytes: [UInt8], for signature: String) throws {
    var coder = try CacheCoder(sealed: bytes)
    try coder.format(Self.format)
    var writer = ""
    try coder(&writer)
    try coder(&captures)
    try coder(&runs)
    guard coder.isAtEnd else { throw DamagedNote() }
    guard writer != signature else { return }
    for id in captures.keys { captures[id]?.bytes = [] }
    runs = [:]
  }
}

extension Catalog.Row: CacheRecord {
  package static var blank: Self { Self(stampBytes: [], outputs: 0, bytes: []) }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&stampBytes)
    try coder(&outputs)
    try coder(&bytes)
  }
}

extension Catalog.RunRow: CacheRecord {
  static var blank: Self { Self(stamp: "", bytes: []) }

  mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&stamp)
    try coder(&content)
    try coder(&bytes)
  }
}

extension EntryStamps: CacheRecord {
  package static var blank: EntryStamps {
    EntryStamps(records: .blank, places: .blank)
  }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&records)
    try coder(&outputs)
    try coder(&content)
    try coder(&places)
    try coder(&proof)
  }
}

extension UntouchedProof: CacheRecord {
  static var blank: UntouchedProof {
    UntouchedProof(records: .blank, document: .blank, isMarked: false)
  }

  mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&records)
    try coder(&document)
    try coder(&outputs)
    try coder(&isMarked)
  }
}

extension PathStamps: CacheRecord {
  static var blank: PathStamps { PathStamps(paths: [], digest: .blank) }

  mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&paths)
    try coder(&digest)
  }
}

/// What lay at every place that an entry was made from, so that a later look tells by one system call per file that
/// the entry would be read the same again. It proves that nothing was touched; where it does not, `EntryStamps` tell
/// whether that matters.
struct UntouchedProof: Hashable, Sendable {
  /// Stamps of everything but published files: of notes and records of the output, of the folders with published files,
  /// and of the files of the capture. While they are current no run works on the capture: who takes its lock writes into
  /// it.
  var records: PathStamps
  /// Stamp of the document alone, which names device and scene.
  var document: PathStamps
  /// Stamps of published files; `nil`: there are too many to be noted, or they are not looked at one by one.
  var outputs: PathStamps?
  /// Whether a person has decided something about the capture.
  var isMarked: Bool
}

/// What an entry was made from, as it was.
///
/// Looks of different cost: `records` and `outputs` tell by names, sizes, times of modification and
/// permissions, at one system call per file, that nothing has been touched, also after a backup was restored;
/// `content` tells of an output that was copied without its times that it holds the same.
package struct EntryStamps: Hashable, Sendable {
  /// Digest of notes and records of the output, of the folders with published files, and of the files of the capture.
  var records: Digest
  /// Digest of all published files; `nil`: there are too many to be looked at one by one.
  package var outputs: Digest?
  /// Digest of notes, records and files of the capture by what is in them, of published files by name and size. `nil`:
  /// it is not known without reading much.
  package var content: Digest?
  /// Which places the others are of.
  var places: Digest
  /// Proof that nothing was touched, which is quicker to check; `nil`: it cannot be given.
  var proof: UntouchedProof?
}

extension Catalog.Row {
  init(stamps: EntryStamps? = nil, outputs: Int, bytes: some Sequence<UInt8>) {
    let stampBytes = try? stamps?.cacheBytes()
    self.init(stampBytes: (stampBytes ?? [])[...], outputs: outputs, bytes: ArraySlice(bytes))
  }
}
