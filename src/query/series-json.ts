// JSON of series: written in one pass, because the starts of buckets are most of an answer and the same for all its devices.
import { type EpochMs, instantsJson } from '../model/instant.ts';
import type { TimeSeries } from './time-series.ts';

/** The JSON of one series: `{deviceId, topic, dataKey, dataPoints, timestamps}`. */
export function seriesJson(series: TimeSeries): string {
  return textOf(series, instantsJson(series.starts));
}

/** The JSON of a list of series. */
export function seriesListJson(list: readonly TimeSeries[]): string {
  const timestamps = new Map<readonly EpochMs[], string>();
  const texts = list.map((series) => {
    const { starts } = series;
    const known = timestamps.get(starts) ?? instantsJson(starts);
    timestamps.set(starts, known);
    return textOf(series, known);
  });
  return `[${texts.join(',')}]`;
}

function textOf(
  { deviceId, topic, dataKey, dataPoints, coverage, approximate }: TimeSeries,
  timestamps: string,
): string {
  const more = JSON.stringify({ coverage, approximate }).slice(1, -1);
  const names = `{"deviceId":${JSON.stringify(deviceId)},"topic":${JSON.stringify(topic)},"dataKey":${JSON.stringify(dataKey)}`;
  return `${names},"dataPoints":${JSON.stringify(dataPoints)},"timestamps":${timestamps}${more === '' ? '' : `,${more}`}}`;
}

// Packed series: as one thread passes a series to the one that writes it, which needs a tenth of the time of writing.

/** Points that are written beside other work, in less than a millisecond. */
const packedPointsMax = 1_000;

export interface PackedSeries
  extends Pick<TimeSeries, 'deviceId' | 'topic' | 'dataKey' | 'approximate'> {
  /** NaN for null. */
  readonly dataPoints: Float64Array<ArrayBuffer>;
  readonly starts: Float64Array<ArrayBuffer>;
}

/** Undefined for a series that the thread that has it should write itself. */
export function packedSeries({
  dataPoints,
  coverage,
  starts,
  ...named
}: TimeSeries): PackedSeries | undefined {
  if (coverage !== undefined || dataPoints.length > packedPointsMax) return undefined;
  return {
    ...named,
    dataPoints: Float64Array.from(dataPoints, (point) => point ?? Number.NaN),
    starts: Float64Array.from(starts),
  };
}

/** The JSON of the series. */
export function packedSeriesJson({ dataPoints, starts, ...named }: PackedSeries): string {
  return seriesJson({ ...named, dataPoints: [...dataPoints], starts: [...starts] });
}
