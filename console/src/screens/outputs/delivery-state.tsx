// States of deliveries: their colors, always next to the word.
import { Chip, type DotTone, type Tone } from '../../ui/chip.tsx';
import { useWords } from '../../words/language.tsx';
import type { DeliveryState } from './output-search.ts';
import { outputsWords } from './outputs-words.ts';

export const outputTones: Readonly<Record<DeliveryState, DotTone>> = {
  PENDING: 'warn',
  DELIVERED: 'ok',
  DEAD: 'bad',
};

const chipTones: Readonly<Record<DeliveryState, Tone>> = {
  PENDING: 'warn',
  DELIVERED: 'ok',
  DEAD: 'bad',
};

export function DeliveryChip({ state }: { readonly state: DeliveryState }) {
  const words = useWords(outputsWords);
  return <Chip tone={chipTones[state]}>{words.states[state]}</Chip>;
}
