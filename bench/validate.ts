// Sample validation: simple, valid samples per second on one core.
import { validateSample } from '../src/uplinks/validate/sample-validation.ts';

const samples = Array.from({ length: 1_000 }, (_, i) => ({
  deviceId: `02${i}`,
  topic: 'default',
  timestamp: i,
  data: {
    temperature: i / 10,
    humidity: 40,
    co2: 400 + i,
    batteryLevel: 90,
    occupied: i % 2 === 0,
    label: 'office',
  },
}));
for (let round = 0; round < 3; round++) {
  const started = performance.now();
  let notes = 0;
  for (let i = 0; i < 2_000; i++)
    for (const sample of samples) notes += validateSample(sample).notes.length;
  const seconds = (performance.now() - started) / 1000;
  console.log(
    `validate: ${Math.round(2e6 / seconds).toLocaleString('en')} samples/s (${notes} notes)`,
  );
}
