import SystemPackage

/// temporary
struct VISLAMStill {
  var encoding = "png"
  var storedWidth = 0, storedHeight = 0, width = 0, height = 0, clockwiseQuarterTurns = 0
  init(firstReadable paths: ArraySlice<FilePath>, orError first: FilePath) throws(CaptureError) {
    throw CaptureError(file: first, problem: "todo")
  }
}
