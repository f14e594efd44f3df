// Form saving: sends the values of a form, says that they are saved, and refreshes what shows them.
import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { faultAt, faultsOf } from '../api/field-faults.ts';
import { toast } from './toasts.tsx';
import { useAction } from './use-action.ts';

interface FormSaveOptions<V, T> {
  readonly send: (values: V) => Promise<T>;
  /** Members of the body that have a field, which shows what is wrong with them. */
  readonly fields?: readonly string[];
  /** Answers that contain the record. */
  readonly refreshes: readonly QueryKey[];
  /** What the toast says. */
  readonly message?: (saved: T) => string;
  /** Ends the dialog as soon as the record is saved. */
  readonly close?: () => void;
  /** After the refresh, for a page that shows the record. */
  readonly open?: (saved: T) => unknown;
}

interface FormSave<V, T> {
  readonly save: (values: V) => void;
  readonly saved: T | undefined;
  readonly isBusy: boolean;
  /** What is wrong with the value of a field. */
  readonly faultOf: (field: string) => string | undefined;
  /** What no field shows. */
  readonly error: Error | null;
}

export function useFormSave<V, T>(options: FormSaveOptions<V, T>): FormSave<V, T> {
  const { send, fields = [], refreshes, message, close, open } = options;
  const client = useQueryClient();
  const { mutate, data, isPending, error } = useAction({
    mutationFn: send,
    onSuccess: async (saved: T) => {
      if (message !== undefined) toast(message(saved));
      close?.();
      await Promise.all(refreshes.map((queryKey) => client.invalidateQueries({ queryKey })));
      await open?.(saved);
    },
  });
  const faults = faultsOf(error);
  const isShown = (path: string) =>
    fields.some((field) => path === field || path.startsWith(`${field}.`));
  const isSaid = faults.rest === undefined && [...faults.byPath.keys()].every(isShown);
  return {
    save: (values) => mutate(values),
    saved: data,
    isBusy: isPending,
    faultOf: (field) => faultAt(faults, field),
    error: isSaid ? null : error,
  };
}
