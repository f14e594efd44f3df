// Late parts: shown as soon as their code has arrived; React delays what it reveals after a fallback.
import type { ErrorComponentProps } from '@tanstack/react-router';
import { type ComponentType, type FunctionComponent, useEffect, useState } from 'react';
import { loadCode, type MissingCode } from '../api/missing-code.ts';

/** Asked for with the first page: when something else does not arrive, this is there already. */
const failures = import('./load-failure.tsx').catch(() => undefined);

/** The component that `load` brings; until then nothing is in its place. `name` is for messages. */
export function late<P extends object>(
  name: string,
  load: () => Promise<ComponentType<P>>,
): ComponentType<P> {
  return function Late(props: P) {
    const [Part, setPart] = useState<ComponentType<P>>();
    const [missing, setMissing] = useState<MissingCode>();
    useEffect(() => {
      let isShown = true;
      loadCode(name, load).then(
        (part) => {
          if (isShown) setPart(() => part);
        },
        (error: MissingCode) => {
          if (isShown) setMissing(error);
        },
      );
      return () => {
        isShown = false;
      };
    }, []);
    if (missing !== undefined) return <LatePart error={missing} />;
    return Part === undefined ? null : <Part {...props} />;
  };
}

type Failures = Awaited<typeof failures>;

function failureOf<P extends { readonly error: unknown }>(
  choose: (parts: NonNullable<Failures>) => FunctionComponent<P>,
): FunctionComponent<P> {
  return function LateFailure(props: P) {
    const [parts, setParts] = useState<Failures>();
    useEffect(() => void failures.then(setParts), []);
    if (parts === undefined) return <p role="alert">{String(props.error)}</p>;
    const Chosen = choose(parts);
    return <Chosen {...props} />;
  };
}

const LatePart = failureOf<{ readonly error: MissingCode }>((parts) => parts.MissingPart);

/** In place of a screen that failed, and of a part of one that has its title already. */
export const ScreenFailure = failureOf<ErrorComponentProps>((parts) => parts.ScreenFailure);
export const PartOfScreenFailure = failureOf<ErrorComponentProps>(
  (parts) => parts.PartOfScreenFailure,
);
