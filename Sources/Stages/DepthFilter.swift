import Captures
import Pipeline
struct DepthFilter: Sendable {
  init?(_ p: ParameterValues, _ c: Capture, _ d: DepthStream) { return nil }
  func apply(to: inout ChunkScratch, frames: Range<Int>, stream: DepthStream) throws {}
}
