// Unwritten JSON: answers that the thread that sends them writes, from what the main thread packs for it.
import type { Sample } from '../model/sample.ts';
import {
  type PackedSamples,
  packedSamples,
  packedSamplesJson,
  samplesJson,
} from './samples-json.ts';
import { type PackedSeries, packedSeries, packedSeriesJson, seriesJson } from './series-json.ts';
import type { TimeSeries } from './time-series.ts';

type PackedJson = PackedSeries | PackedSamples;

/** As it is passed to the thread that sends it: text, or what becomes one there. */
export type LeftJson = string | PackedJson;

export abstract class UnwrittenJson {
  abstract text(): string;
  /** Undefined when this thread should write it. */
  abstract packed(): PackedJson | undefined;
}

export class SeriesAnswer extends UnwrittenJson {
  readonly #series: TimeSeries;

  constructor(series: TimeSeries) {
    super();
    this.#series = series;
  }

  text(): string {
    return seriesJson(this.#series);
  }

  packed(): PackedJson | undefined {
    return packedSeries(this.#series);
  }
}

export class SamplesAnswer extends UnwrittenJson {
  readonly #samples: readonly Sample[];
  readonly #aliased: boolean;

  constructor(samples: readonly Sample[], aliased: boolean) {
    super();
    this.#samples = samples;
    this.#aliased = aliased;
  }

  text(): string {
    return samplesJson(this.#samples, this.#aliased);
  }

  packed(): PackedJson | undefined {
    return packedSamples(this.#samples, this.#aliased);
  }
}

export function textOfLeft(packed: LeftJson): string {
  if (typeof packed === 'string') return packed;
  return 'keys' in packed ? packedSamplesJson(packed) : packedSeriesJson(packed);
}
