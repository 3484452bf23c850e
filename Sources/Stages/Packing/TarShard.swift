import Core
import Engine
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// One file of samples: what is in it, decided before anything is read, and how it is written as tar.
///
/// POSIX `ustar` without times, owners or anything else of this machine, so that the same results give the same bytes.
struct TarShard: Sendable {
  struct Sample: Sendable {
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
      files.reduce(TarShard.bytes(Int64(json.count))) { $0 + TarShard.bytes($1.entry.bytes) }
    }
  }

  /// Where a member lies.
  struct Member: Sendable {
    var name: String
    var capture: String
    /// Of its content in the tar file.
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
  /// Files are read, compared with their digests and laid out on all cores, while what was read before is written.
  /// Memory: two batches of at most 16 MiB and one sample.
  func write(
    to file: FileDescriptor, at path: FilePath, skipped: (Sample, PackError) -> Void
  ) throws -> [Member] {
    var members: [Member] = []
    var offset: Int64 = 0
    var begun: Int64 = 0
    var pending: [Block] = []
    var next = 0
    while next < samples.count || !pending.isEmpty {
      var end = next
      var size: Int64 = 0
      while end < samples.count, end - next < 64, size < 16 << 20 {
        size += samples[end].bytes
        end += 1
      }
      let batch = Array(samples[next..<end])
      next = end
      let ready = pending
      let blocks = try concurrentMap(count: batch.count + 1) {
        index throws -> Result<Block, PackError>? in
        guard index == 0 else { return Block.read(batch[index - 1]) }
        for block in ready { for part in block.parts { try Self.write(part, to: file, at: path) } }
        return nil
      }
      for block in ready {
        members += block.members.map { member in
          var moved = member
          moved.offset += offset
          return moved
        }
        offset += block.bytes
      }
      if offset - begun >= StagingFolder.earlyBytes {
        StagingFolder.beginWriting(file, from: begun, bytes: offset - begun)
        begun = offset
      }
      pending = []
      // The first result is that of the writing.
      for (sample, block) in zip(batch, blocks.dropFirst()) {
        switch block {
        case .success(let block)?: pending.append(block)
        case .failure(let error)?: skipped(sample, error)
        case nil: break
        }
      }
    }
    try Self.write([UInt8](repeating: 0, count: Int(Self.endBytes)), to: file, at: path)
    guard fsync(file.rawValue) == 0 else {
      throw FileError(Errno(rawValue: errno), path: path, operation: "flush")
    }
    return members
  }

  private static func write(
    _ bytes: [UInt8], to file: FileDescriptor, at path: FilePath
  ) throws(FileError) {
    guard !bytes.isEmpty else { return }
    do {
      if let fault = StorageFaults.fault(.write, path) { throw fault }
      try file.writeAll(bytes)
    } catch {
      throw FileError(error, path: path, operation: "write")
    }
  }

  /// The members of one sample as they lie in the tar file.
  private struct Block: Sendable {
    /// Headers, contents and padding, one behind the other: contents are as they were read.
    var parts: [[UInt8]] = []
    var bytes: Int64 = 0
    /// Offsets from the beginning of the block.
    var members: [Member] = []

    static func read(_ sample: Sample) -> Result<Block, PackError> {
      do {
        var block = Block()
        for file in sample.files {
          block.add(
            try file.verified(), file.entry.sha256, as: sample.key + file.nameEnd, of: sample)
        }
        block.add(sample.json, Digest(of: sample.json), as: sample.key + ".json", of: sample)
        return .success(block)
      } catch {
        return .failure(error as? PackError ?? PackError("\(error)"))
      }
    }

    private mutating func add(
      _ content: [UInt8], _ digest: Digest, as name: String, of sample: Sample
    ) {
      let count = Int64(content.count)
      members.append(
        Member(
          name: name, capture: sample.capture, offset: bytes + TarShard.blockBytes,
          entry: OutputEntry(path: name, bytes: count, sha256: digest)))
      parts += [TarShard.header(name, content.count), content]
      let padding = TarShard.bytes(count) - TarShard.blockBytes - count
      if padding > 0 { parts.append([UInt8](repeating: 0, count: Int(padding))) }
      bytes += TarShard.bytes(count)
    }
  }

  /// The header of a regular file: POSIX.1-1988, `ustar`. Names are ours and shorter than 100 bytes; sizes are below
  /// 8 GiB, since pictures are.
  static func header(_ name: String, _ bytes: Int) -> [UInt8] {
    var header = [UInt8](repeating: 0, count: Int(blockBytes))
    func put(_ text: String, at offset: Int) {
      header.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8)
    }
    func octal(_ number: Int, digits: Int) -> String {
      let text = String(number, radix: 8)
      return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
    put(String(name.prefix(99)), at: 0)
    put(octal(0o644, digits: 7), at: 100)
    put(octal(0, digits: 7), at: 108)
    put(octal(0, digits: 7), at: 116)
    put(octal(bytes, digits: 11), at: 124)
    put(octal(0, digits: 11), at: 136)
    put("        0", at: 148)
    put("ustar\u{0}00", at: 257)
    put(octal(0, digits: 7), at: 329)
    put(octal(0, digits: 7), at: 337)
    let sum = header.reduce(0) { $0 + Int($1) }
    put(octal(sum, digits: 6) + "\u{0} ", at: 148)
    return header
  }
}
