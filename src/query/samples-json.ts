// JSON of samples: written from the samples in one pass, because an answer holds up to ten thousand of them.
import { createInstantFormat } from '../model/instant.ts';
import type { Sample } from '../model/sample.ts';

/**
 * The JSON of the samples, each in the form of `sampleAnswer`, which would first build one object
 * for each sample.
 */
export function samplesJson(samples: readonly Sample[], aliased: boolean): string {
  const format = createInstantFormat();
  let [device, topic, between] = ['', '', ''];
  let json = '';
  for (const sample of samples) {
    if (sample.deviceId !== device || sample.topic !== topic || between === '') {
      ({ deviceId: device, topic } = sample);
      between = betweenOf(sample, aliased);
    }
    const { timestamp, data, meta } = sample;
    json += json === '' ? '[{"timestamp":"' : ',{"timestamp":"';
    json += format(timestamp) + between + JSON.stringify(data);
    json += meta === undefined ? '}' : `,"meta":${JSON.stringify(meta)}}`;
  }
  return json === '' ? '[]' : `${json}]`;
}

/** What is the same for most samples of an answer. */
function betweenOf({ deviceId, topic }: Sample, aliased: boolean): string {
  const device = JSON.stringify(deviceId);
  const alias = aliased ? `,"akenzaDeviceId":${device}` : '';
  return `","deviceId":${device},"svcDeviceId":${device}${alias},"topic":${JSON.stringify(topic)},"data":`;
}
