import Core
import SystemPackage

/// The mapped depth file and its layout.
struct ARKitScannerDepthFile: Sendable {
  let name: String
  let mapped: MappedFile
  let layout: ARKitScannerDepthLayout

  init(_ path: FilePath, name: String, stated: ARKitScannerStatedSize) throws(CaptureError) {
    do {
      mapped = try MappedFile(path)
    } catch {
      throw CaptureError(error, of: path)
    }
    self.name = name
    if case .valid(let size) = stated {
      layout = try ARKitScannerDepthLayout(of: mapped, stated: size)
    } else {
      layout = try ARKitScannerDepthLayout(of: mapped, stated: nil)
    }
  }

  /// Number of records, including holes.
  var recordCount: Int { access.recordCount }

  var access: FrameAccess<UInt16> {
    switch layout.kind {
    case .framed(let chain, _):
      .indexed(
        ARKitScannerFramedDepth(
          file: mapped, chain: chain, decoder: ARKitScannerRecordDecoder(size: layout.size)))
    case .deflateStream(let frames, _, _):
      .ordered(ARKitScannerDeflateStreamDepth(file: mapped, size: layout.size, recordCount: frames))
    case .raw(let frames, _):
      .indexed(ARKitScannerRawDepth(file: mapped, size: layout.size, recordCount: frames))
    }
  }

  /// Whether `record` is known to be a hole without decoding it.
  func isEmpty(record: Int) -> Bool {
    guard case .framed(let chain, _) = layout.kind, record < chain.recordCount else {
      return false
    }
    return chain.payload(of: record).isEmpty
  }

  /// Whether the file ends within its content.
  var isCut: Bool {
    switch layout.kind {
    case .framed(let chain, _):
      switch chain.end {
      case .broken, .tooManyRecords: true
      case .complete, .stray: false
      }
    case .deflateStream(_, let isWhole, _): !isWhole
    case .raw: false
    }
  }

  /// Warns of damage in the layout. Damage inside records is found when they are decoded.
  func report(to warnings: WarningCollector) {
    let file = mapped.path
    switch layout.kind {
    case .framed(let chain, _):
      let place = "\(file), record \(chain.recordCount), byte \(chain.endOffset)"
      switch chain.end {
      case .complete: break
      case .stray(let bytes):
        warnings.add(.trailingData, "depth", "\(place): \(bytes) bytes after the last record")
      case .broken(let length) where length < 0:
        warnings.add(.truncatedStream, "depth", "\(place): negative length \(length)")
      case .broken(let length):
        let left = mapped.count - chain.endOffset - 4
        warnings.add(
          .truncatedStream, "depth",
          "\(place): the record is cut, \(left) of \(length) bytes are there")
      case .tooManyRecords:
        warnings.add(.truncatedStream, "depth", "\(place): records of length 0 without end")
      }
    case .deflateStream(let frames, let isWhole, let hasRest):
      if !isWhole {
        warnings.add(
          .truncatedStream, "depth",
          "\(file): the DEFLATE stream has no end, \(frames) whole frames are in it")
      } else if hasRest {
        warnings.add(.trailingData, "depth", "\(file): data after the last of \(frames) frames")
      }
    case .raw(let frames, let hasRest):
      if hasRest {
        warnings.add(.trailingData, "depth", "\(file): data after the last of \(frames) frames")
      }
    }
  }
}
