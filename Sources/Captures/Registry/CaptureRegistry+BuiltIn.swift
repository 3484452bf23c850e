extension CaptureRegistry {
  /// The families that the program reads: the only list of them.
  public static let builtIn = CaptureRegistry([
    ScanNetReader.self, ARKitScannerReader.self, MultiScanReader.self, VISLAMReader.self,
    StraboReader.self,
  ])
}
