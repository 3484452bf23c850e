import CRendering
import Core

/// Computes the color of hits from texture, lamps and distance, before lens and sensor.
struct Shader: Sendable {
  private let view: PreparedView
  private let textures: TextureSet
  private let surfaces: [scanmill_surface]
  private let lamps: [scanmill_lamp]
  /// Size of a pixel in meters at a distance of one meter.
  private let pixelSize: Float
  private let directions: [Float]

  init(room: Room, view: PreparedView) {
    self.view = view
    textures = room.textures
    surfaces = room.surfaces.map { scanmill_surface($0) }
    lamps = room.lamps.map {
      scanmill_lamp(position: scanmill_vector($0.position), power: $0.power)
    }
    pixelSize = Float(1 / view.camera.fx)
    directions = PixelLoops.directions(
      view.camera.width, center: view.camera.cx, pixelSize: pixelSize)
  }

  /// Computes red, green, blue (1 = white; surfaces close to a lamp may exceed it) and the inverse
  /// depth in 1/m of row `v`, one plane after the other from index `start` on. `depths` hold a group more numbers above 0 than
  /// the row; `surfaces` are indices into those of the scene.
  func shadeRow(
    _ v: Int, depths: Span<Double>, surfaces: Span<Int32>, into planes: inout MutableSpan<Float>,
    at start: Int
  ) {
    let width = view.camera.width
    precondition(depths.count >= width + PixelLoops.group && surfaces.count >= width)
    precondition(start >= 0 && start + PixelLoops.rowLength(width: width) <= planes.count)
    let y = Float((Double(v) - view.camera.cy) / view.camera.fy)
    planes.withUnsafeMutableBufferPointer { planes in
      let row = planes.baseAddress.map { $0 + start }
      withScene { scene in
        depths.withUnsafeBufferPointer { depths in
          surfaces.withUnsafeBufferPointer { surfaces in
            scanmill_render_shade(
              view.isWide, &scene, y, depths.baseAddress, surfaces.baseAddress, row)
          }
        }
      }
    }
  }

  private func withScene(_ body: (inout scanmill_scene) -> Void) {
    let turn = view.viewpoint.worldFromCamera
    directions.withUnsafeBufferPointer { directions in
      surfaces.withUnsafeBufferPointer { surfaces in
        lamps.withUnsafeBufferPointer { lamps in
          textures.texels.withUnsafeBufferPointer { texels in
            var scene = scanmill_scene(
              width: Int64(view.camera.width),
              stride: Int64(PixelLoops.stride(width: view.camera.width)),
              position: scanmill_vector(SIMD3<Float>(view.viewpoint.position)),
              right: scanmill_vector(SIMD3<Float>(turn.x)),
              down: scanmill_vector(SIMD3<Float>(turn.y)),
              forward: scanmill_vector(SIMD3<Float>(turn.z)), pixel_size: pixelSize,
              directions: directions.baseAddress, surfaces: surfaces.baseAddress,
              lamps: lamps.baseAddress, lamp_count: Int64(lamps.count),
              texels: texels.baseAddress)
            body(&scene)
          }
        }
      }
    }
  }
}

extension scanmill_surface {
  fileprivate init(_ surface: Surface) {
    let material = surface.material
    let isSphere = if case .sphere = surface.shape { true } else { false }
    self.init(
      is_sphere: isSphere, texture: UInt32(material.texture.rawValue),
      texels_per_meter: material.texelsPerMeter, origin: scanmill_vector(surface.origin),
      along: scanmill_vector(surface.along), down: scanmill_vector(surface.down),
      normal: scanmill_vector(surface.normal), dark: scanmill_vector(material.dark),
      span: scanmill_vector(material.light - material.dark))
  }
}
