import Core
import SystemPackage

/// Writes the depth and confidence files.
struct MultiScanStreams {
  private let plan: MultiScanPlan
  private let codec: MultiScanDepth
  private var depth: MultiScanDeflateFile?
  private var confidence: MultiScanDeflateFile?
  private var digests = MultiScanWriter.Digests()
  private var lastDepth: [UInt8] = []
  private var lastConfidence: [UInt8] = []
  private let confidencePath: FilePath

  init(plan: MultiScanPlan, depth: FilePath, confidence: FilePath) throws {
    self.plan = plan
    codec = MultiScanDepth(plan: plan)
    confidencePath = confidence
    if plan.generation.hasDepth, plan.hasDepthFile {
      self.depth = try MultiScanDeflateFile(depth, format: plan.depthFormat)
    }
    if plan.generation.hasConfidence, plan.hasConfidenceFile, !plan.hasEmptyConfidence {
      self.confidence = try MultiScanDeflateFile(confidence, format: plan.confidenceFormat)
    }
  }

  /// Appends the measurements of frame `frame`; frames must be in order.
  mutating func append(_ frame: Int, meters: [Float], confidence values: [UInt8]) throws {
    let number = frame - plan.lateDepth
    let (bytes, digest) = codec.frame(frame, meters: meters)
    lastDepth = bytes
    lastConfidence = codec.confidence(values)
    if number < plan.depthFrames {
      try depth?.append(bytes)
      if depth != nil { digests.depth.append(digest) }
    } else if number == plan.depthFrames, plan.endsInDepthFrame {
      try depth?.append(Array(bytes.prefix(bytes.count / 2)))
    }
    if number < plan.confidenceFrames, confidence != nil {
      if plan.splitsConfidence, number == plan.frames / 2 { try confidence?.startNextStream() }
      try confidence?.append(lastConfidence)
      digests.confidence.append(Digest(of: lastConfidence))
    }
  }

  /// Completes both files.
  mutating func finish() throws -> MultiScanWriter.Digests {
    for _ in 0..<plan.lateDepth {
      try depth?.append(lastDepth)
      try confidence?.append(lastConfidence)
    }
    if plan.depthTailBytes > 0 {
      try depth?.append([UInt8](repeating: 0x33, count: plan.depthTailBytes))
    }
    try depth?.finish(hasEndMark: !plan.endsInDepthFrame)
    try confidence?.finish()
    if plan.hasEmptyConfidence { try OutputFile.write([], to: confidencePath) }
    return digests
  }
}
