// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {TypedDomain} from "./TypedDomain.sol";

/// A dollar with the EIP-3009 functions of Circle's FiatToken 2.2: v, r, s for plain keys, and bytes for contract
/// payers too. Anybody may mint.
abstract contract Dollar is ERC20, TypedDomain {
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    error InvalidSignature();
    error NotYetValid();
    error Expired();
    error AuthorizationUsedOrCanceled();
    error CallerMustBePayee();

    bytes32 private constant TRANSFER_TYPE =
        keccak256(
            "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
        );
    bytes32 private constant RECEIVE_TYPE =
        keccak256(
            "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
        );
    bytes32 private constant CANCEL_TYPE = keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");

    mapping(address authorizer => mapping(bytes32 nonce => bool used)) public authorizationState;

    // Behind a proxy the constructor's words are lost: name and symbol are constants below.
    constructor() ERC20("", "") {}

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        _checkKey(from, _hash(TRANSFER_TYPE, from, to, value, validAfter, validBefore, nonce), v, r, s);
        _use(from, validAfter, validBefore, nonce);
        _transfer(from, to, value);
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        _checkSigner(from, _hash(TRANSFER_TYPE, from, to, value, validAfter, validBefore, nonce), signature);
        _use(from, validAfter, validBefore, nonce);
        _transfer(from, to, value);
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        require(to == msg.sender, CallerMustBePayee());
        _checkKey(from, _hash(RECEIVE_TYPE, from, to, value, validAfter, validBefore, nonce), v, r, s);
        _use(from, validAfter, validBefore, nonce);
        _transfer(from, to, value);
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        require(to == msg.sender, CallerMustBePayee());
        _checkSigner(from, _hash(RECEIVE_TYPE, from, to, value, validAfter, validBefore, nonce), signature);
        _use(from, validAfter, validBefore, nonce);
        _transfer(from, to, value);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        _checkKey(authorizer, _digest(keccak256(abi.encode(CANCEL_TYPE, authorizer, nonce))), v, r, s);
        _spend(authorizer, nonce);
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) external {
        _checkSigner(authorizer, _digest(keccak256(abi.encode(CANCEL_TYPE, authorizer, nonce))), signature);
        _spend(authorizer, nonce);
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return _domainSeparator();
    }

    function version() external pure returns (string memory text) {
        (, text) = _domain();
    }

    function name() public pure override returns (string memory text) {
        (text, ) = _domain();
    }

    function symbol() public pure override returns (string memory) {
        return "USDC";
    }

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    /// The log of the authorization comes before that of the money.
    function _use(address authorizer, uint256 validAfter, uint256 validBefore, bytes32 nonce) internal {
        require(block.timestamp > validAfter, NotYetValid());
        require(block.timestamp < validBefore, Expired());
        _spend(authorizer, nonce);
        emit AuthorizationUsed(authorizer, nonce);
    }

    function _spend(address authorizer, bytes32 nonce) private {
        require(!authorizationState[authorizer][nonce], AuthorizationUsedOrCanceled());
        authorizationState[authorizer][nonce] = true;
    }

    function _hash(
        bytes32 kind,
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce
    ) internal view returns (bytes32) {
        return _digest(keccak256(abi.encode(kind, from, to, value, validAfter, validBefore, nonce)));
    }

    function _checkKey(address signer, bytes32 digest, uint8 v, bytes32 r, bytes32 s) internal pure {
        (address recovered, ECDSA.RecoverError problem, ) = ECDSA.tryRecover(digest, v, r, s);
        require(problem == ECDSA.RecoverError.NoError && recovered == signer, InvalidSignature());
    }

    function _checkSigner(address signer, bytes32 digest, bytes memory signature) private view {
        require(SignatureChecker.isValidSignatureNow(signer, digest, signature), InvalidSignature());
    }
}

/// Native USDC on every chain but Celo.
contract UsdCoin is Dollar {
    function _domain() internal pure override returns (string memory, string memory) {
        return ("USD Coin", "2");
    }
}

/// Native USDC on Celo, which signs under another name.
contract CeloUsdc is Dollar {
    function _domain() internal pure override returns (string memory, string memory) {
        return ("USDC", "2");
    }
}

/// A bridged dollar: it also uses up authorizations that pay nobody.
contract BridgedDollar is Dollar {
    bytes32 private constant APPROVE_TYPE =
        keccak256(
            "ApproveWithAuthorization(address owner,address spender,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
        );

    function approveWithAuthorization(
        address owner,
        address spender,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        _checkKey(owner, _hash(APPROVE_TYPE, owner, spender, value, validAfter, validBefore, nonce), v, r, s);
        _use(owner, validAfter, validBefore, nonce);
        _approve(owner, spender, value);
    }

    function _domain() internal pure override returns (string memory, string memory) {
        return ("USD Coin (PoS)", "1");
    }
}
