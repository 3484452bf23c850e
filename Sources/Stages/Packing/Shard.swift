import Core
import Engine
import SystemPackage
import Glibc

/// One file of samples: what is in it, decided before anything is read, and how it is written as tar (`HDF5Shard.swift`: as
/// HDF5).
///
/// POSIX `ustar` without times, owners or anything else of this machine, so that the same results give the same bytes.
struct Shard {
  struct Sample {
    /// The first part of the names of its members.
    var key: String
    var capture: String
    var files: [PackedFrame.File]
    /// The member `KEY.json`.
    var json: [UInt8]
    /// For formats that hold samples of motion sensors: those of the capture.
    var motion: PublishedMotion?

    /// Bytes in the tar file.
    var bytes: Int64 {
      files.reduce(Shard.bytes(Int64(json.count))) { $0 + Shard.bytes($1.entry.bytes) }
    }
  }

  /// Where a member lies.
  struct Member {
    var name: String
    var capture: String
    /// The offset of its content in the tar file.
    var offset: Int64
    var entry: OutputEntry
  }

  static let blockBytes: Int64 = 512
  /// What ends a tar file.
  static let endBytes = 2 * blockBytes

  private(set) var samples: [Sample] = []
  private(set) var bytes = Self.endBytes

  /// Header, content and padding.
  static func bytes(_ content: Int64) -> Int64 {
    blockBytes + (content + blockBytes - 1) / blockBytes * blockBytes
  }

  mutating func add(_ sample: Sample) {
    samples.append(sample)
    bytes += sample.bytes
  }

  /// What will be in it: equal to that of another shard with the same members and contents.
  var digest: Digest {
    let hasher = Digest.Hasher()
    for sample in samples {
      for file in sample.files {
        hasher.update(Array("\(sample.key)\(file.nameEnd)\0\(file.entry.sha256.hex)\0".utf8))
      }
      hasher.update(Array("\(sample.key).json\0".utf8) + sample.json)
      if let motion = sample.motion {
        hasher.update(Array("\(motion.file.entry.sha256.hex)\0\(motion.convention ?? "")\0".utf8))
      }
    }
    return hasher.finish()
  }

  /// Writes all samples, but for those that cannot be read or are not what was published, which `skipped` is told.
  ///
  /// Files that are as they were recorded are copied by the kernel; others are read and compared with their digests,
  /// on all cores. Memory: a batch of at most 16 MiB and one sample.
  func writeTar(
    to file: FileDescriptor, at path: FilePath, skipped: (Sample, PackError) -> Void
  ) throws -> [Member] {
    let output = Output(file: file, path: path)
    var members: [Member] = []
    var offset: Int64 = 0
    var begun: Int64 = 0
    var next = 0
    while next < samples.count {
      var end = next
      var size: Int64 = 0
      while end < samples.count, end - next < 32, size < 16 << 20 {
        size += samples[end].bytes
        end += 1
      }
      let batch = Array(samples[next..<end])
      next = end
      let opened = batch.map(Block.opened)
      let block = { @Sendable (index: Int) in
        opened[index].map(Result.success) ?? Block.read(batch[index])
      }
      // Threads are worth it for digests alone.
      let blocks =
        opened.allSatisfy { $0 != nil }
        ? batch.indices.map(block) : try concurrentMap(count: batch.count, block)
      for (sample, block) in zip(batch, blocks) {
        switch block {
        case .failure(let error): skipped(sample, error)
        case .success(let block):
          if let error = try output.write(block, from: offset) {
            skipped(sample, error)
            continue
          }
          members += block.members.map { member in
            var moved = member
            moved.offset += offset
            return moved
          }
          offset += block.bytes
        }
      }
      if offset - begun >= WritebackHint.pieceBytes {
        WritebackHint.begin(file, from: begun, bytes: offset - begun)
        begun = offset
      }
    }
    try output.seek(to: offset)
    try output.write([UInt8](repeating: 0, count: Int(Self.endBytes)))
    try output.end(at: offset + Self.endBytes)
    return members
  }

  /// The header of a regular file: POSIX.1-1988, `ustar`. Names are ours and shorter than 100 bytes; sizes are below
  /// 8 GiB, since pictures are.
  static func header(_ name: String, _ bytes: Int) -> [UInt8] {
    var (header, sum) = common
    func put(_ text: some Sequence<UInt8>, at offset: Int) {
      var place = offset
      for byte in text {
        header[place] = byte
        sum += Int(byte)
        place += 1
      }
    }
    put(name.utf8.prefix(99), at: 0)
    put(octal(bytes, digits: 11), at: 124)
    put(octal(sum, digits: 6) + [0, UInt8(ascii: " ")], at: 148)
    return header
  }

  /// What all headers have in common, and the sum of its bytes with blanks in the place of the sum.
  private static let common: (bytes: [UInt8], sum: Int) = {
    var header = [UInt8](repeating: 0, count: Int(blockBytes))
    func put(_ text: [UInt8], at offset: Int) {
      header.replaceSubrange(offset..<offset + text.count, with: text)
    }
    put(octal(0o644, digits: 7), at: 100)
    for (offset, digits) in [(108, 7), (116, 7), (136, 11), (329, 7), (337, 7)] {
      put(octal(0, digits: digits), at: offset)
    }
    put(Array("        0".utf8), at: 148)
    put(Array("ustar\u{0}00".utf8), at: 257)
    return (header, header.reduce(0) { $0 + Int($1) })
  }()

  private static func octal(_ number: Int, digits: Int) -> [UInt8] {
    let text = Array(String(number, radix: 8).utf8)
    return [UInt8](repeating: UInt8(ascii: "0"), count: max(0, digits - text.count)) + text
  }
}

/// The members of one sample as they lie in the tar file.
private struct Block {
  enum Part {
    case bytes([UInt8])
    case file(PackedFrame.File, InputFile)
  }

  /// Headers, contents and padding, one behind the other.
  private(set) var parts: [Part] = []
  private(set) var bytes: Int64 = 0
  /// Offsets from the beginning of the block.
  private(set) var members: [Shard.Member] = []

  /// `nil` where a file is to be read and compared.
  static func opened(_ sample: Shard.Sample) -> Block? {
    try? Block(sample) { file in try file.unchanged().map { .file(file, $0) } }
  }

  static func read(_ sample: Shard.Sample) -> Result<Block, PackError> {
    do {
      return .success(try Block(sample) { file in .bytes(try file.verified()) })
    } catch {
      return .failure(error as? PackError ?? PackError("\(error)"))
    }
  }

  private init(
    _ sample: Shard.Sample, _ content: (PackedFrame.File) throws -> Part?
  ) throws {
    for file in sample.files {
      guard let content = try content(file) else { throw file.altered }
      add(content, file.entry, as: sample.key + file.nameEnd, of: sample)
    }
    let json = OutputEntry(
      path: "", bytes: Int64(sample.json.count), sha256: Digest(of: sample.json))
    add(.bytes(sample.json), json, as: sample.key + ".json", of: sample)
  }

  private mutating func add(
    _ content: Part, _ entry: OutputEntry, as name: String, of sample: Shard.Sample
  ) {
    members.append(
      Shard.Member(
        name: name, capture: sample.capture, offset: bytes + Shard.blockBytes,
        entry: OutputEntry(path: name, bytes: entry.bytes, sha256: entry.sha256)))
    let all = Shard.bytes(entry.bytes)
    add(Shard.header(name, Int(entry.bytes)))
    if case .bytes(let bytes) = content { add(bytes) } else { parts.append(content) }
    add([UInt8](repeating: 0, count: Int(all - Shard.blockBytes - entry.bytes)))
    bytes += all
  }

  /// Bytes that follow one another are written at once.
  private mutating func add(_ bytes: [UInt8]) {
    if case .bytes(let before)? = parts.last {
      parts[parts.count - 1] = .bytes(before + bytes)
    } else {
      parts.append(.bytes(bytes))
    }
  }
}

/// The file that a shard is written to.
private struct Output {
  let file: FileDescriptor
  let path: FilePath

  /// Writes a block; returns why a file of it cannot be read any more. Throws what concerns the output.
  func write(_ block: Block, from start: Int64) throws(FileError) -> PackError? {
    try seek(to: start)
    var offset = start
    for part in block.parts {
      switch part {
      case .bytes(let bytes):
        try write(bytes)
        offset += Int64(bytes.count)
      case .file(let source, let open):
        do throws(Errno) {
          if let fault = StorageFaults.fault(.write, path) { throw fault }
          try open.append(to: file)
          // The source may have been written to meanwhile.
          guard source.isUnchanged(open) else { throw .noData }
        } catch {
          // A separate read and write tells which of the two files failed.
          let content: [UInt8]
          do { content = try source.verified() } catch {
            return error as? PackError ?? PackError("\(error)")
          }
          try seek(to: offset)
          try write(content)
        }
        offset += source.entry.bytes
      }
    }
    return nil
  }

  func write(_ bytes: [UInt8]) throws(FileError) {
    try act("write") {
      if let fault = StorageFaults.fault(.write, path) { throw fault }
      _ = try file.writeAll(bytes)
    }
  }

  func seek(to offset: Int64) throws(FileError) {
    try act("write") { _ = try file.seek(offset: offset, from: .start) }
  }

  /// Cuts off what a sample that was given up has left behind, and flushes.
  func end(at bytes: Int64) throws(FileError) {
    try act("write") { try file.resize(to: bytes) }
    try act("flush") {
      guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
    }
  }

  private func act(_ operation: String, _ body: () throws -> Void) throws(FileError) {
    do { try body() } catch {
      throw FileError(error as? Errno ?? .ioError, path: path, operation: operation)
    }
  }
}
