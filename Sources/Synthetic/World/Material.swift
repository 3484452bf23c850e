/// The appearance of a surface: two colors mixed by a texture.
struct Material: Sendable {
  /// Red, green, blue 0…1 under full light; the fourth lane is unused.
  var dark: SIMD4<Float>
  var light: SIMD4<Float>
  var texture: TexturePattern
  var texelsPerMeter: Float

  init(
    _ texture: TexturePattern, dark: (Float, Float, Float), light: (Float, Float, Float),
    texelsPerMeter: Float = 512
  ) {
    self.texture = texture
    self.dark = SIMD4(dark.0, dark.1, dark.2, 0)
    self.light = SIMD4(light.0, light.1, light.2, 0)
    self.texelsPerMeter = texelsPerMeter
  }
}

/// The patterns that textures are made of.
enum TexturePattern: Int, CaseIterable, Sendable {
  case plaster
  case planks
  case carpet
  case bricks
  case tiles
  case stripes
  case poster
  case books
}
