// Row of the delivery log; it opens to the payload, the answer and the reason.
import { useQueryClient } from '@tanstack/react-query';
import { ChevronRight } from 'lucide-react';
import { useId, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/states.tsx';
import { toast, toastFailure } from '../../parts/toasts.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { DeliveryChip } from './delivery-state.tsx';
import { deliveriesKey, type Delivery, resendOne } from './output-requests.ts';
import styles from './outputs.module.css';
import { outputsWords } from './outputs-words.ts';
import { readable } from './readable.ts';
import { useAction } from '../../parts/use-action.ts';

interface DeliveryRowProps {
  readonly delivery: Delivery;
  /** Its name, once known. */
  readonly device: string | undefined;
}

export function DeliveryRow({ delivery, device }: DeliveryRowProps) {
  const words = useWords(outputsWords);
  const { instant } = useFormats();
  const details = useId();
  const [isOpen, setOpen] = useState(false);
  const { created, state, tries, answer, reason, deviceId } = delivery;
  return (
    <li>
      <div className={styles['delivery']}>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={details}
          aria-label={words.details(instant(created))}
          onClick={() => setOpen(!isOpen)}
        >
          <ChevronRight aria-hidden="true" />
        </button>
        <time className="num mute" dateTime={created}>
          {instant(created)}
        </time>
        <DeliveryChip state={state} />
        <span className="mute num">{words.tries(tries)}</span>
        <span className="cut">{device ?? deviceId}</span>
        <span className="cut faint">{reason ?? answer ?? ''}</span>
        {state === 'PENDING' ? <span /> : <Resend delivery={delivery} />}
      </div>
      <div id={details} hidden={!isOpen}>
        {isOpen && <Details delivery={delivery} />}
      </div>
    </li>
  );
}

function Resend({ delivery }: { readonly delivery: Delivery }) {
  const words = useWords(outputsWords);
  const known = useQueryClient();
  const resend = useAction({
    mutationFn: () => resendOne(delivery.id),
    onSuccess: () => toast(words.resent),
    onError: toastFailure,
    onSettled: () =>
      known.invalidateQueries({ queryKey: deliveriesKey(delivery.outputConnectorId) }),
  });
  return (
    <Button
      needs="dataFlow: update"
      look={delivery.state === 'DEAD' ? 'plain' : 'ghost'}
      disabled={resend.isPending}
      onClick={() => resend.mutate()}
    >
      {words.resend}
    </Button>
  );
}

function Details({ delivery }: { readonly delivery: Delivery }) {
  const words = useWords(outputsWords);
  const { instant } = useFormats();
  const { payload, answer, reason, correlationId, nextTry, cause } = delivery;
  return (
    <div className={styles['details']}>
      <dl className={styles['facts']}>
        <div>
          <dt>{words.cause}</dt>
          <dd>{words.causes[cause]}</dd>
        </div>
        <div>
          <dt>{words.correlation}</dt>
          <dd className="mono">{correlationId}</dd>
        </div>
        {nextTry !== null && (
          <div>
            <dt>{words.nextTry}</dt>
            <dd className="num">{instant(nextTry)}</dd>
          </div>
        )}
      </dl>
      <Told title={words.reason} code={reason} />
      <Told title={words.answer} code={answer} />
      <Told title={words.payload} code={readable(payload)} />
    </div>
  );
}

function Told({ title, code }: { readonly title: string; readonly code: string | null }) {
  if (code === null || code === '') return null;
  return (
    <div>
      <h3>{title}</h3>
      <CodeBlock code={code} />
    </div>
  );
}
