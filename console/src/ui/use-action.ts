// Actions: requests that a click or a form sends, each once, also when it is clicked twice before the page shows that it is busy.
import { useMutation, type UseMutationOptions } from '@tanstack/react-query';
import { useCallback, useRef } from 'react';

/**
 * The mutation, whose `mutate` does nothing while the same values are being sent: a button is
 * disabled only with the next frame, and two clicks may come before it.
 */
export function useAction<T, V = void>(options: UseMutationOptions<T, Error, V>) {
  const mutation = useMutation<T, Error, V>(options);
  const { mutateAsync } = mutation;
  const sending = useRef(new Set<string>());
  const mutate = useCallback(
    (...sent: Parameters<typeof mutateAsync>) => {
      const same = contentOf(sent[0]);
      if (sending.current.has(same)) return;
      sending.current.add(same);
      const end = () => void sending.current.delete(same);
      // The mutation keeps the error.
      mutateAsync(...sent).then(end, end);
    },
    [mutateAsync],
  );
  return { ...mutation, mutate };
}

function contentOf(values: unknown): string {
  return JSON.stringify(values instanceof FormData ? [...values] : values) ?? '';
}
