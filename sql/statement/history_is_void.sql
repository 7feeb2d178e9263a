-- Whether an event makes no version and so takes no tick, because it says again what the one before it in the batch, or else the current
-- version, says.
coalesce(judged.skips AND NOT judged.deletes
                        AND CASE WHEN lag(judged.number) OVER batch IS NULL THEN judged.is_as_last
                                 ELSE NOT lag(judged.deletes) OVER batch
                                      AND daybook.same(lag(ROW({compared})) OVER batch, ROW({compared})) END, false)
