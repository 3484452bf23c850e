import Storage
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// `DIR/.scanmill/catalog`: the entries of all captures and runs of an output as they were last read, in one
/// file. Derived: absent, damaged or made by another program, answers are made without it, and it is made anew.
///
/// Read as a whole and replaced as a whole in one step, so that it may lie on any file system; of two who
/// replace it at the same time the later one wins, which costs another look at what only the first one had
/// seen.
package struct Catalog: Sendable {
  package static let fileName = OutputNames.catalog

  /// A capture as it was read.
  package struct Row: Sendable {
    /// `nil`: it must be read again in any case.
    package var stamps: EntryStamps?
    /// How many files are published.
    package var outputs: Int
    /// `EntryBytes` of the entry.
    package var bytes: [UInt8]

    package init(stamps: EntryStamps? = nil, outputs: Int, bytes: [UInt8]) {
      self.stamps = stamps
      self.outputs = outputs
      self.bytes = bytes
    }

    package var entry: CaptureEntry? { try? EntryBytes.entry(bytes) }
  }

  package struct RunRow: Sendable {
    package var stamp: RunStamp
    package var bytes: [UInt8]

    package init(stamp: RunStamp, bytes: [UInt8]) {
      self.stamp = stamp
      self.bytes = bytes
    }

    package var entry: RunEntry? { try? EntryBytes.run(bytes) }
  }

  /// By id.
  package var captures: [String: Row] = [:]
  package var runs: [String: RunRow] = [:]

  package init() {}

  /// What is noted in an output; `nil` where there is nothing that can be used: absent, damaged, of another
  /// version, or made by a program with another signature.
  ///
  /// Cost: reading and digesting a few thousand bytes per capture.
  package init?(of root: FilePath, signature: String) {
    guard
      let bytes = HeldFolder(root)?.below(NotesFile.folderName)?
        .stampedContents(of: Self.fileName)?.bytes,
      let found = try? Self(bytes, signature: signature)
    else { return nil }
    self = found
  }

  /// Notes it in an output, as far as that is possible: not where the folder cannot be written.
  package func write(to root: FilePath, signature: String) {
    guard Self.isWritable(root) else { return }
    try? HeldFolder.following(root).makeFolder(NotesFile.folderName)
      .replace(Self.fileName, with: bytes(signature: signature), durably: false)
  }

  /// One without any permission to write counts as such for the superuser as well.
  private static func isWritable(_ root: FilePath) -> Bool {
    guard let found = HeldFolder(root)?.status(of: "."), found.mode & 0o222 != 0 else {
      return false
    }
    return root.withPlatformString { access($0, W_OK | X_OK) } == 0
  }
}

extension Catalog {
  /// Raised when the order of values changes, here or in `EntryBytes`.
  private static let format: Int64 = 0x4_4C54_4143

  /// All values with a digest at the end.
  package func bytes(signature: String) -> [UInt8] {
    var encoder = CacheEncoder()
    encoder.put(Self.format)
    encoder.put(signature)
    encoder.list(captures.sorted { $0.key < $1.key }) { encoder, item in
      let (id, row) = item
      encoder.put(id)
      encoder.put(row.stamps?.records.hex)
      encoder.put(row.stamps?.outputs.hex)
      encoder.put(row.stamps?.content?.hex)
      encoder.put(row.stamps?.proof)
      encoder.put(row.outputs)
      encoder.put(row.bytes)
    }
    encoder.list(runs.sorted { $0.key < $1.key }) { encoder, item in
      let (id, run) = item
      encoder.put(id)
      encoder.put(run.stamp.text)
      encoder.put(run.stamp.content?.hex)
      encoder.put(run.bytes)
    }
    return encoder.bytes + Array(Digest(of: encoder.bytes).hex.utf8)
  }

  package init(_ bytes: [UInt8], signature: String) throws {
    let count = bytes.count - 64
    guard count > 0, Digest(of: bytes[..<count]).hex.utf8.elementsEqual(bytes[count...]) else {
      throw DamagedNote()
    }
    var decoder = CacheDecoder(bytes, in: 0..<count)
    guard try decoder.integer() == Self.format, try decoder.text() == signature else {
      throw DamagedNote()
    }
    for (id, row) in try decoder.list({ decoder in
      let id = try decoder.text()
      let records = try decoder.optionalText().map(Digest.init(hex:))
      let outputs = try decoder.optionalText().map(Digest.init(hex:))
      let content = try decoder.optionalText().map(Digest.init(hex:))
      let proof = try decoder.proof()
      var stamps: EntryStamps?
      if let records, let outputs {
        stamps = EntryStamps(records: records, outputs: outputs, content: content, proof: proof)
      }
      return (id, Row(stamps: stamps, outputs: try decoder.int(), bytes: try decoder.raw()))
    }) {
      captures[id] = row
    }
    for (id, run) in try decoder.list({ decoder in
      (
        try decoder.text(),
        RunRow(
          stamp: RunStamp(
            text: try decoder.text(),
            content: try decoder.optionalText().map(Digest.init(hex:))), bytes: try decoder.raw())
      )
    }) {
      runs[id] = run
    }
    guard decoder.isAtEnd else { throw DamagedNote() }
  }
}

extension CacheEncoder {
  fileprivate mutating func put(_ proof: UntouchedProof?) {
    put(proof != nil)
    guard let proof else { return }
    put(proof.isMarked)
    put(proof.records)
    put(proof.outputs != nil)
    if let outputs = proof.outputs { put(outputs) }
  }

  private mutating func put(_ stamps: PathStamps) {
    put(stamps.paths)
    put(stamps.digest)
  }
}

extension CacheDecoder {
  fileprivate mutating func proof() throws(DamagedNote) -> UntouchedProof? {
    guard try bool() else { return nil }
    let isMarked = try bool()
    let records = try stamps()
    return UntouchedProof(
      records: records, outputs: try bool() ? try stamps() : nil, isMarked: isMarked)
  }

  private mutating func stamps() throws(DamagedNote) -> PathStamps {
    PathStamps(paths: try raw(), digest: try digest())
  }
}
