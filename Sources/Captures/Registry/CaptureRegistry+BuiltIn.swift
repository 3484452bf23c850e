extension CaptureRegistry {
  /// The families that the program can read. No other list of them exists.
  public static let builtIn = CaptureRegistry([
    ScanNetReader.self, ARKitScannerReader.self, MultiScanReader.self, VISLAMReader.self,
    StraboReader.self, StrayScannerReader.self, ThreeDScannerAppReader.self, Record3DReader.self,
    PolycamReader.self,
  ])
}
