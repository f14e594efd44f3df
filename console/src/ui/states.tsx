// States that every part of a page may be in: loading, failed, forbidden and empty.
import { useLocation, useParams } from '@tanstack/react-router';
import { RotateCw } from 'lucide-react';
import type { CSSProperties, ReactNode } from 'react';
import { type CurlRequest, curlOf } from '../api/curl.ts';
import { Refusal } from '../api/platform.ts';
import { useWords } from '../words/language.tsx';
import { Button, ButtonLink } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { partWords } from './part-words.ts';
import styles from './states.module.css';

/** A grey bar where a word will be; shown only when the answer takes longer than 120 ms. */
export function Bone({ width = '9em' }: { readonly width?: string }) {
  const style = { '--bone-width': width } as CSSProperties;
  return <span className={styles['bone']} style={style} aria-hidden="true" />;
}

interface FailureProps {
  readonly error: Error;
  readonly retry?: () => void;
  /** The request that failed, for a terminal. */
  readonly curl?: CurlRequest;
}

/** A part that failed says so in its place; the rest of the page lives on. */
export function Failure({ error, retry, curl }: FailureProps) {
  const words = useWords(partWords);
  const refusal = error instanceof Refusal ? error : undefined;
  const isGone = refusal?.status === 404;
  return (
    <div className={styles['state']} role="alert">
      <strong>{titleOf(refusal?.status, words)}</strong>
      {!isGone && <span>{error.message}</span>}
      {refusal?.status === 403 && <span>{words.askOwner}</span>}
      {refusal?.requestId !== undefined && (
        <span className={styles['request']}>
          {words.request} {refusal.requestId}
        </span>
      )}
      <div className="flow wrap justify-center gap-8">
        {isGone && <BackToList />}
        {retry !== undefined && !isGone && (
          <Button onClick={retry}>
            <RotateCw aria-hidden="true" />
            {words.retry}
          </Button>
        )}
        {curl !== undefined && (
          <CopyButton content={curlOf(curl, location.origin)}>{words.copyCurl}</CopyButton>
        )}
      </div>
    </div>
  );
}

function titleOf(status: number | undefined, words: typeof partWords.en): string {
  if (status === 404) return words.gone;
  return status === 403 ? words.forbidden : words.failed;
}

/** Leads to the page above the record of the address. */
function BackToList() {
  const words = useWords(partWords);
  const { pathname } = useLocation();
  const ids = Object.values<string | undefined>(useParams({ strict: false }));
  const parts = pathname.split('/');
  const at = parts.findLastIndex((part) => ids.includes(decodeURIComponent(part)));
  if (at < 3) return null;
  return <ButtonLink to={parts.slice(0, at).join('/') as '/'}>{words.toList}</ButtonLink>;
}

interface EmptyProps {
  /** One sentence: what this is for. */
  readonly title: ReactNode;
  readonly note?: ReactNode;
  readonly actions?: ReactNode;
}

export function Empty({ title, note, actions }: EmptyProps) {
  return (
    <div className={styles['state']}>
      <strong>{title}</strong>
      {note !== undefined && <span>{note}</span>}
      {actions !== undefined && <div className="flow wrap justify-center gap-8">{actions}</div>}
    </div>
  );
}

/** Code to be read and copied; reachable by keyboard because it may scroll. */
export function CodeBlock({ code }: { readonly code: string }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus
    <code className={styles['code']} tabIndex={0}>
      {code}
    </code>
  );
}

export interface Answer<T> {
  readonly data: T | undefined;
  readonly error: Error | null;
  readonly refetch: () => unknown;
}

interface AnsweredProps<T> {
  readonly answer: Answer<T>;
  readonly curl?: CurlRequest;
  readonly skeleton: ReactNode;
  readonly children: (data: T) => ReactNode;
}

/** Shows the data as soon as there is some, old data while new loads, and a failure in its place. */
export function Answered<T>({ answer, curl, skeleton, children }: AnsweredProps<T>) {
  if (answer.data !== undefined) return children(answer.data);
  if (answer.error === null) return skeleton;
  const retry = () => void answer.refetch();
  return <Failure error={answer.error} retry={retry} {...(curl === undefined ? {} : { curl })} />;
}
