import Media
import Core

extension MultiScanCapture {
  /// Builds the depth stream as counted, without copies at the end.
  func makeDepth() -> StreamState<DepthStream> {
    switch contents.depth {
    case .absent(let why): return .absent(why)
    case .unreadable(let error): return .unreadable(error)
    case .present(let stream):
      warnOfDamage(in: stream.survey, subject: "depth")
      let layout = stream.layout
      if layout.hasInvalidClaim {
        warnings.add(
          .sizeMismatch, "depth",
          "the metadata's resolution differs from that of the data; \(layout.width)x\(layout.height) is "
            + "taken")
      }
      warnings.add(
        .trailingData, "depth", count: frames.pairing.filler,
        "frames at the end are copies made when the recording stopped; left out")
      warnings.add(
        .corruptRecord, "depth", count: stream.survey.framesWithStereoDefect,
        "frames hold nothing of their own beyond byte \(MultiScanStereoDefect.realBytes); cleared")
      var description = description(
        contents.files.depth ?? "", encoding: encoding(stream.survey, layout.element.suffix),
        width: layout.width, height: layout.height, frames: frames.pairing.depthFrames,
        declared: contents.metadata?.first(.depth)?.declaredFrames,
        times: frames.frames.map(\.depthTimestamp))
      description.pairing = rankPairing(frames.pairing.depthFrames)
      let source = MultiScanDepthFrames(
        file: stream.file, layout: layout, recordCount: frames.pairing.depthFrames,
        mayHaveStereoDefect: contents.generation == .iosStereo)
      return .present(
        DepthStream(
          description: description, width: layout.width, height: layout.height,
          access: .ordered(source), firstFrame: frames.pairing.firstDepthFrame))
    }
  }

  /// Builds the confidence stream, which has the size of depth and starts at the same frame.
  func makeConfidence() -> StreamState<ConfidenceStream> {
    switch contents.confidence {
    case .absent(let why): return .absent(why)
    case .unreadable(let error): return .unreadable(error)
    case .present(let stream):
      warnOfDamage(in: stream.survey, subject: "confidence")
      let layout = stream.layout
      let first = frames.pairing.firstDepthFrame
      let times = frames.frames.indices.map { index in
        index >= first && index < first + frames.pairing.confidenceFrames
          ? frames.frames[index].timestamp : nil
      }
      var description = description(
        contents.files.confidence ?? "", encoding: encoding(stream.survey, "u8"),
        width: layout.width, height: layout.height, frames: frames.pairing.confidenceFrames,
        declared: contents.metadata?.first(.confidence)?.declaredFrames, times: times)
      description.pairing = rankPairing(frames.pairing.confidenceFrames)
      let source = MultiScanConfidenceFrames(
        file: stream.file, pixels: layout.pixels, recordCount: frames.pairing.confidenceFrames)
      return .present(
        ConfidenceStream(
          description: description, width: layout.width, height: layout.height,
          access: .ordered(source), firstFrame: first))
    }
  }

  /// Depth and confidence frames have the order of the lines, or of the pictures.
  private func rankPairing(_ count: Int) -> StreamPairing? {
    let isOfLines = contents.linesInUse != nil
    let partners =
      isOfLines ? frames.pairing.lines - frames.pairing.firstDepthFrame : frames.pictures.length
    guard isOfLines || contents.color.value != nil else { return nil }
    return .byRank(
      count, with: isOfLines ? "lines" : "pictures", max(0, partners),
      isDoubtful: count != partners || contents.generation.isAndroid)
  }

  private func encoding(_ survey: MultiScanStreamSurvey, _ element: String) -> String {
    let wrapper =
      switch survey.format {
      case .raw: "deflate"
      case .zlib: "zlib"
      case .gzip: "gzip"
      }
    return "\(wrapper)-stream-\(element)"
  }

  private func warnOfDamage(in survey: MultiScanStreamSurvey, subject: String) {
    if survey.isCut {
      warnings.add(
        .truncatedStream, subject, "the stream has no end mark; its whole frames are kept")
    }
    warnings.add(
      .corruptRecord, subject, count: survey.wrongChecksums,
      "the checksum at the end does not match the frames before it; they are kept")
    if survey.hasTrailingData {
      warnings.add(.trailingData, subject, "what follows the last whole frame is ignored")
    }
    warnings.add(
      .multipleStreams, subject, count: survey.streams - 1,
      "streams follow the first one in the same file; all are read")
  }
}
