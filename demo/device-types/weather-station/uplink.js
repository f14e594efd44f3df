// Roof Station RS-1: JSON in the units of its maker; samples are metric.

const HPA_PER_INHG = 33.8639;
const MS_PER_MPH = 0.44704;
const MM_PER_TIP = 0.2;
const POINTS = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'];

function rounded(value, digits) {
  return Number(value.toFixed(digits));
}

function consume(event) {
  const { obs, batt_pct: batteryLevel } = event.data;
  const tips = obs.rain_tips_today;
  const state = event.state || {};
  const data = {
    temperature: rounded((obs.temp_f - 32) / 1.8, 2),
    humidity: obs.rh_pct,
    pressure: rounded(obs.baro_inhg * HPA_PER_INHG, 1),
    windSpeed: rounded(obs.wind_mph * MS_PER_MPH, 2),
    windDirection: obs.wind_dir_deg,
    windPoint: POINTS[Math.round(obs.wind_dir_deg / 45) % 8],
    solarRadiation: obs.solar_wm2,
    rainToday: rounded(tips * MM_PER_TIP, 1),
  };
  // The station forgets its tips at midnight UTC.
  const day = event.timestamp.slice(0, 10);
  if (state.tips !== undefined) data.rain = rounded((state.day === day ? tips - state.tips : tips) * MM_PER_TIP, 1);
  emit('sample', { data, topic: 'default' });
  emit('state', { day, tips, batteryLevel });
  if (state.batteryLevel !== batteryLevel) emit('sample', { data: { batteryLevel }, topic: 'lifecycle' });
}
