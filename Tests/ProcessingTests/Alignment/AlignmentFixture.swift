@testable import Media
import FoundationEssentials
@testable import Core
@testable import Processing
import SystemPackage
import TestSupport

/// One case of the alignment fixtures: input, what it must become, and how exactly.
struct AlignmentFixture {
  let folder: FixtureCase
  let calibration: DepthCalibration
  let parameters: AlignmentParameters
  let description: Description
  let depth: DepthImage

  static let cases = Fixtures.cases(of: "alignment").filter { $0.name != "azure-kinect" }

  init(_ folder: FixtureCase) throws {
    self.folder = folder
    calibration = try folder.json(CalibrationObject.self, from: "calibration.json").calibration
    description = try folder.json(Description.self, from: "case.json")
    let stated = description.parameters
    parameters = AlignmentParameters(
      surface: stated.surface, grid: stated.grid,
      discontinuityAbsolute: stated.discontinuityAbsolute,
      discontinuityRelative: stated.discontinuityRelative)
    depth = try Self.depth("depth", in: folder)
  }

  /// The case aligned with one of the surfaces.
  func aligned(_ surface: AlignmentParameters.Surface) throws -> DepthImage {
    var parameters = parameters
    parameters.surface = surface
    let aligner = try DepthAligner(calibration: calibration, parameters: parameters)
    return try aligner.aligned(depth)
  }

  func picture(_ name: String) throws -> DepthImage { try Self.depth(name, in: folder) }

  func mask() throws -> [UInt8] {
    try PNGReader.gray(at: folder.folder.appending("mask.png")).values
  }

  /// Step of the stored depth in millimeters at a true Z in millimeters.
  func quantizationStep(at z: Double) -> Double {
    description.depthQuantization == "shift table" ? max(1, z * z / 300_000) : 1
  }

  private static func depth(_ name: String, in folder: FixtureCase) throws -> DepthImage {
    try PNGReader.depth(at: folder.folder.appending(name + ".png"))
  }
}

extension AlignmentFixture {
  /// The part of `case.json` that is asked of an implementation.
  struct Description: Decodable {
    struct Parameters: Decodable {
      let surface: AlignmentParameters.Surface
      let grid: AlignmentParameters.Grid
      let discontinuityAbsolute: Double
      let discontinuityRelative: Double
    }
    struct Require: Decodable {
      let interiorWithin1mm: Double?
      let interiorWithin5mm: Double?
      let interiorCoverage: Double?
      let throughMax: Double?
      let leakMax: Double?
      let outsideMax: Double?
      let meshEqualWithin1mm: Double?
      let meshCoverageDifference: Double?
      let within1mm: Double?
      let within5mm: Double?
      let referenceOnlyMax: Double?
      let oursOnlyMax: Double?
    }
    let parameters: Parameters
    let outputGrid: PinholeCamera
    let depthQuantization: String?
    let require: Require
    let colorRadiusLimit: Double?
  }

  /// `calibration.json`.
  struct CalibrationObject: Decodable {
    struct Lenses: Decodable {
      let depth: [String: Double]?
      let color: [String: Double]?
    }
    let registered: Bool
    let colorFromDepth: [Double]
    let depthIntrinsics: PinholeCamera
    let colorIntrinsics: PinholeCamera
    let distortion: Lenses?

    var calibration: DepthCalibration {
      DepthCalibration(
        registered: registered, colorFromDepth: RigidTransform(rowMajor: colorFromDepth),
        depthIntrinsics: depthIntrinsics, colorIntrinsics: colorIntrinsics,
        depthDistortion: Self.lens(distortion?.depth), colorDistortion: Self.lens(distortion?.color)
      )
    }

    private static func lens(_ terms: [String: Double]?) -> LensDistortion {
      let names = ["k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6"]
      return LensDistortion(openCVOrder: names.map { terms?[$0] ?? 0 })
    }
  }
}

extension DepthAligner {
  /// One frame on one thread.
  func aligned(_ depth: DepthImage) throws -> DepthImage {
    var scratch = AlignmentScratch()
    var output: [UInt16] = []
    try align(depth.millimeters, scratch: &scratch, into: &output)
    return DepthImage(
      width: outputIntrinsics.width, height: outputIntrinsics.height, millimeters: output)
  }
}
