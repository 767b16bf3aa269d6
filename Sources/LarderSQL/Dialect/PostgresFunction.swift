/// A function that a store creates in its schema of PostgreSQL. It returns NULL for NULL.
package struct PostgresFunction: Sendable {
    package let name: String
    package let argument: SQL
    let result: SQL
    let language: SQL
    package let body: SQL

    package var createStatement: SQL {
        """
        CREATE FUNCTION \(function: name)(\(argument)) RETURNS \(result) LANGUAGE \(language) \
        IMMUTABLE STRICT PARALLEL SAFE AS \(literal: body.text)
        """
    }

    package static let all = [integer, finite, exact]

    /// The number as a `bigint`; NULL if it is none.
    static let integer = PostgresFunction(
        name: "larder_integer", argument: "numeric", result: "bigint", language: "sql",
        body: """
            SELECT CASE WHEN $1 BETWEEN -9223372036854775808 AND 9223372036854775807 \
            AND TRUNC($1) = $1 THEN CAST($1 AS bigint) END
            """)

    /// The number if it is finite, otherwise NULL.
    static let finite = PostgresFunction(
        name: ScalarFunctions.finite, argument: "double precision", result: "double precision",
        language: "sql",
        body: "SELECT CASE WHEN $1 > '-Infinity' AND $1 < 'Infinity' THEN $1 END")

    /// The exact value of a `double precision`, for sums that are rounded once. A cast to `numeric`
    /// rounds to 15 digits.
    ///
    /// A number is an integer of 53 bits and a power of two. A negative power is an integer, a
    /// power of five, with as many decimal places.
    static let exact = PostgresFunction(
        name: "larder_exact", argument: "double precision", result: "numeric", language: "plpgsql",
        body: """
            DECLARE
            bits bigint := CAST(CAST('x' || encode(float8send($1), 'hex') AS bit(64)) AS bigint);
            exponent integer := (bits >> 52) & 2047;
            digits numeric := bits & 4503599627370495;
            BEGIN
            IF exponent = 2047 THEN RETURN CAST($1 AS numeric); END IF;
            IF exponent = 0 THEN exponent := 1; ELSE digits := digits + 4503599627370496; END IF;
            IF bits < 0 THEN digits := -digits; END IF;
            exponent := exponent - 1075;
            IF exponent >= 0 THEN
            RETURN digits * TRUNC(POWER(CAST(2 AS numeric), exponent));
            END IF;
            RETURN digits * TRUNC(POWER(CAST(5 AS numeric), -exponent))
            * CAST('1e' || exponent AS numeric);
            END
            """)
}
