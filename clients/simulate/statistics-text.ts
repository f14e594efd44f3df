// Prints the statistics of a simulation: one line while it runs, a summary when it ends.
import type { Statistics } from './statistics.ts';
import type { SimulationResult } from './simulation.ts';

export interface Shown {
  readonly sent: number;
  readonly acknowledged: number;
  readonly seconds: number;
}

/** Rates are those since `before`; percentiles and errors those of the whole run. */
export function lineText(figures: Statistics, seconds: number, before: Shown): string {
  const passed = Math.max(seconds - before.seconds, 0.001);
  const { sent, acknowledged, errors } = figures.counts;
  return [
    clock(seconds),
    `sent ${rate(sent - before.sent, passed)}/s`,
    `acknowledged ${rate(acknowledged - before.acknowledged, passed)}/s`,
    `p50 ${ms(figures.percentileMs(0.5))}`,
    `p99 ${ms(figures.percentileMs(0.99))}`,
    `errors ${errors.toLocaleString('en-US')}`,
  ].join('   ');
}

export function summaryText({ figures, seconds }: SimulationResult): string {
  const { sent, acknowledged, errors } = figures.counts;
  const reasons = [...figures.reasons].toSorted(([, one], [, other]) => other - one);
  return [
    `${sent.toLocaleString('en-US')} sent, ${acknowledged.toLocaleString('en-US')} acknowledged in ${seconds.toFixed(1)} s: ${rate(acknowledged, seconds)}/s`,
    `acknowledged after p50 ${ms(figures.percentileMs(0.5))}, p99 ${ms(figures.percentileMs(0.99))}, at most ${ms(figures.maxMs)}`,
    `${errors.toLocaleString('en-US')} errors${reasons.length === 0 ? '' : `: ${reasons.map(([reason, count]) => `${count} x ${reason}`).join(', ')}`}`,
  ].join('\n');
}

function rate(count: number, seconds: number): string {
  const perSecond = count / Math.max(seconds, 0.001);
  return perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond).toLocaleString('en-US');
}

function ms(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}

function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${String(Math.floor(whole / 60)).padStart(2, '0')}:${String(whole % 60).padStart(2, '0')}`;
}
