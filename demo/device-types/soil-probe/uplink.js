// Soil Probe SP-1, a LoRa Alliance payload codec (TS013): the same file runs on network servers. fPort 2, little-endian:
//   0..1  volumetric water content, u16, 0.01 %
//   2..3  soil temperature, i16, 0.01 degrees Celsius
//   4..5  bulk electrical conductivity, u16, uS/cm
//   6     battery, %

function decodeUplink(input) {
  const { bytes, fPort } = input;
  if (fPort !== 2) return { errors: ['unknown fPort ' + fPort] };
  if (bytes.length !== 7) return { errors: ['expected 7 bytes, got ' + bytes.length] };

  const u16 = (at) => bytes[at] | (bytes[at + 1] << 8);
  const i16 = (at) => (u16(at) << 16) >> 16;
  const data = {
    soilMoisture: u16(0) / 100,
    soilTemperature: i16(2) / 100,
    conductivity: u16(4),
    batteryLevel: bytes[6],
  };
  const warnings = [];
  if (data.batteryLevel < 15) warnings.push('battery low');
  if (data.soilTemperature < 0) warnings.push('soil frozen, water content is not reliable');
  return { data, warnings };
}
