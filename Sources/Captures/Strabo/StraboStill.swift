import SystemPackage

/// temporary
struct StraboStill {
  let path: FilePath
  let encoding = "jpeg"
  let storedWidth = 0, storedHeight = 0, width = 0, height = 0, clockwiseQuarterTurns = 0
  init(_ path: FilePath) throws(CaptureError) {
    throw CaptureError(file: path, problem: "todo")
  }
}
