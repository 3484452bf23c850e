/// What the samples of a PNG file mean: the `cICP` chunk of PNG's third edition, by numbers of ITU-T
/// H.273. Samples are RGB of full range.
public struct PNGColor: Hashable, Sendable {
  var primaries: UInt8
  var transfer: UInt8
}
