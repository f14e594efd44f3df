// Shown value: a value of any type in a word, and the chip of the threshold that it reached.
import { Chip, type Tone as ChipTone } from '../../../ui/chip.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import type { Threshold, Tone } from '../dashboard-model.ts';
import { tileWords } from './tile-words.ts';

export function Shown({ value }: { readonly value: unknown }) {
  const words = useWords(tileWords);
  const formats = useFormats();
  if (value === undefined || value === null) return words.none;
  if (typeof value === 'number') return formats.value(value);
  if (typeof value === 'boolean') return value ? words.isTrue : words.isFalse;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const tones: Readonly<Record<Tone, ChipTone>> = { OK: 'ok', WARNING: 'warn', BAD: 'bad' };

export function ThresholdChip({ threshold }: { readonly threshold: Threshold | undefined }) {
  const words = useWords(tileWords);
  if (threshold === undefined) return null;
  const { tone, label } = threshold;
  const hasLabel = label !== null && label !== undefined && label !== '';
  return <Chip tone={tones[tone]}>{hasLabel ? label : words.tones[tone]}</Chip>;
}
