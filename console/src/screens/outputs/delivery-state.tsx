// Delivery states: their colors and words, and why an output fails.
import { useQuery } from '@tanstack/react-query';
import { Chip, type DotTone, type Tone } from '../../ui/chip.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { failingDeliveryOf } from './output-requests.ts';
import type { DeliveryState } from './output-search.ts';
import { outputsWords } from './outputs-words.ts';

/** Nothing until the reason is known. */
export function FailureReason({ outputId }: { readonly outputId: string }) {
  const words = useWords(outputsWords);
  const { clock } = useFormats();
  const { data } = useQuery(failingDeliveryOf(outputId));
  if (!data) return null;
  return (
    <small className="faint" title={data.reason ?? undefined}>
      {words.failingSince(clock(data.created), data.reason ?? '')}
    </small>
  );
}

// States of deliveries: their colors, always next to the word.

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
